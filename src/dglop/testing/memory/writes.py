# SPDX-License-Identifier: Apache-2.0
"""Creation, replacement, patches and apply."""

from __future__ import annotations

import random
import uuid
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.runtime.api.times import format_time
from dglop.testing.memory.body import checked, checked_config, fitted, read_body, read_json, read_yaml
from dglop.testing.memory.checks import metadata_problems, spec_problems, update_problems
from dglop.testing.memory.kinds import admit, complete, first_status
from dglop.testing.memory.managed import Writer, applied, noted
from dglop.testing.memory.patches import json_patched, merged, strategic
from dglop.testing.memory.refusal import (
    Problem,
    RefusalError,
    already_exists,
    bad_request,
    conflict,
    forbidden_option,
    internal,
    invalid,
    not_found,
)
from dglop.testing.memory.update import Update
from dglop.testing.memory.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.clock import Clock
    from dglop.testing.memory.fieldset import Shape
    from dglop.testing.memory.request import Options, Target
    from dglop.testing.memory.resources import Registry
    from dglop.testing.memory.store import Store, Stored

__all__ = ("Writes",)

MERGE, JSON = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
GENERATION = frozenset(
    {
        "cronjobs.batch",
        "customresourcedefinitions.apiextensions.k8s.io",
        "daemonsets.apps",
        "deployments.apps",
        "endpointslices.discovery.k8s.io",
        "ingresses.networking.k8s.io",
        "jobs.batch",
        "networkpolicies.networking.k8s.io",
        "poddisruptionbudgets.policy",
        "pods",
        "replicasets.apps",
        "replicationcontrollers",
        "statefulsets.apps",
    }
)
"""Built-in resources that count generations."""

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SPECIFIED = "must be specified for an update"


class Writes:
    """What changes objects, but for deletion. Every method may raise RefusalError."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        shape: Shape,
        clock: Clock,
        *,
        new_uid: Callable[[], str] = lambda: str(uuid.uuid4()),
        choose: Callable[[str], str] = random.choice,
    ) -> None:
        self._store = store
        self._registry = registry
        self._shape = shape
        self._clock = clock
        self._new_uid = new_uid
        self._choose = choose
        self._serial = 0

    def create(self, target: Target, body: bytes, options: Options) -> tuple[dict[str, Any], list[str]]:
        """The new object, and warnings."""
        return self._create(target, read_body(target, body), options, config=None)

    def replace(self, target: Target, body: bytes, options: Options) -> tuple[dict[str, Any], list[str]]:
        """The object as it is after a PUT, and warnings."""
        info = target.info
        wire = read_body(target, body)
        name = wire["metadata"].setdefault("name", target.name)
        if name != target.name:
            raise bad_request(
                f"the name of the object ({name}) does not match the name on the URL ({target.name})"
            )
        old = self._existing(target)
        version = wire["metadata"].get("resourceVersion")
        if info.is_custom and not version:
            problem = Problem.invalid("metadata.resourceVersion", 0, _SPECIFIED)
            raise invalid(info, name, [problem], kind=info.plural)
        uid, known = wire["metadata"].get("uid"), old.wire["metadata"]["uid"]
        if uid and uid != known:
            folder = f"{info.group}/{info.plural}" if info.is_custom else info.plural
            where = "/".join(part for part in (folder, *target.key) if part)
            raise conflict(
                info,
                name,
                f"StorageError: invalid object, Code: 4, Key: /registry/{where}, ResourceVersion: 0, "
                f"AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, "
                f"UID in object meta: {known}",
            )
        wire["metadata"].setdefault("uid", known)
        return self._update(target, old, wire, options)

    def patch(
        self, target: Target, content_type: str, body: bytes, options: Options
    ) -> tuple[dict[str, Any], list[str], bool]:
        """The object after a patch, warnings, and whether it was created."""
        info = target.info
        if content_type == APPLY:
            return self._apply(target, body, options)
        known = (MERGE, JSON) if info.is_custom else (MERGE, JSON, STRATEGIC)
        if content_type not in known:
            raise _unsupported(info.is_custom, content_type)
        old = self._existing(target)
        patch = read_json(body)
        current = self._seen(target, old)
        if content_type == JSON:
            wire = json_patched(current, patch)
        elif content_type == MERGE:
            wire = merged(current, patch)
        else:
            wire = strategic(self._shape.schemas, info.node, current, patch)
        if not isinstance(wire, dict):
            raise bad_request("the patched object is no object")
        wire, warnings = self._update(target, old, wire, options)
        return wire, warnings, False

    def apply_defaults(self, target: Target, wire: dict[str, Any]) -> None:
        if not target.info.is_custom:
            complete(target.info, wire, self._next_serial)

    def _create(
        self, target: Target, wire: dict[str, Any], options: Options, config: dict[str, Any] | None
    ) -> tuple[dict[str, Any], list[str]]:
        info = target.info
        if config is None and wire["metadata"].get("resourceVersion"):
            raise internal("resourceVersion should not be set on objects to be created")
        self._check_namespace(target)
        wire, warnings = fitted(self._shape.schemas, info, wire, options.validation)
        wire = _own(wire)
        self._begin(target, wire)
        self.apply_defaults(target, wire)
        if info.has_status and info.is_custom:
            wire.pop("status", None)
        writer = Writer(options.manager, "", self._now())
        if config is None:
            wire = noted(self._shape, info, None, wire, writer)
        if not info.is_custom:
            admit(info, wire)
            status = first_status(info, wire)
            if status is not None:
                wire["status"] = status
        self._check(target, wire, None)
        key = (target.namespace or "" if info.namespaced else "", wire["metadata"]["name"])
        if self._store.get(info.storage, key) is not None:
            raise already_exists(info, wire["metadata"]["name"])
        if options.dry_run:
            wire["metadata"].pop("resourceVersion", None)
            return wire, warnings
        return self._store.put(info.storage, wire).wire, warnings

    def _begin(self, target: Target, wire: dict[str, Any]) -> None:
        """Set in place what the server gives a new object."""
        info, metadata = target.info, wire["metadata"]
        for field in ("selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"):
            metadata.pop(field, None)
        if not metadata.get("name") and metadata.get("generateName"):
            ending = "".join(self._choose(_LETTERS) for _ in range(5))
            metadata["name"] = metadata["generateName"][:58] + ending
        metadata["uid"] = self._new_uid()
        metadata["creationTimestamp"] = self._now()
        if info.is_custom or info.storage in GENERATION:
            metadata["generation"] = 1

    def _update(
        self,
        target: Target,
        old: Stored,
        wire: dict[str, Any],
        options: Options,
        by_apply: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> tuple[dict[str, Any], list[str]]:
        """Write a new state; *by_apply* notes the owners where this is no plain write."""
        info = target.info
        wire, warnings = fitted(self._shape.schemas, info, checked(target, wire), options.validation)
        if (wire["metadata"].get("resourceVersion") or str(old.version)) != str(old.version):
            raise conflict(info, target.name)
        change = Update(info, target.subresource, self._seen(target, old), _own(wire))
        new = change.prepared(counts=info.is_custom or info.storage in GENERATION)
        self.apply_defaults(target, new)
        if target.subresource != "status":
            change.count(new, counts=info.is_custom or info.storage in GENERATION)
        before = self._seen(target, old)
        if by_apply is not None:
            new = by_apply(new)
        else:
            writer = Writer(options.manager, target.subresource, self._now())
            new = noted(self._shape, info, before, new, writer)
        self._check(target, new, before)
        new["metadata"]["resourceVersion"] = str(old.version)
        if new == before:
            return before, warnings
        if options.dry_run:
            return new, warnings
        if change.ends(new):
            self._store.remove(info.storage, target.key, new)
            return new, warnings
        return self._in_version(target, self._store.put(info.storage, new)), warnings

    def _apply(
        self, target: Target, body: bytes, options: Options
    ) -> tuple[dict[str, Any], list[str], bool]:
        if not options.manager:
            problem = Problem.required("fieldManager", "is required for apply patch")
            raise forbidden_option("PatchOptions", problem)
        info = target.info
        config = checked_config(target, read_yaml(body))
        writer = Writer(options.manager, target.subresource, self._now())
        old = self._store.get(info.storage, target.key)
        if old is None:
            uid = config["metadata"].get("uid")
            if uid:
                why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                raise conflict(info, target.name, why)
            if target.subresource:
                raise not_found(info, target.name)
            wire = applied(self._shape, info, None, config, writer, force=options.force)
            wire, warnings = self._create(target, wire, options, config)
            return wire, warnings, True
        live = self._seen(target, old)
        wire = applied(self._shape, info, live, config, writer, force=options.force)
        owners = wire["metadata"].get("managedFields")

        def with_owners(new: dict[str, Any]) -> dict[str, Any]:
            return {**new, "metadata": {**new["metadata"], "managedFields": owners}} if owners else new

        new, warnings = self._update(target, old, wire, options, with_owners)
        return new, warnings, False

    def _check(self, target: Target, wire: dict[str, Any], old: dict[str, Any] | None) -> None:
        info, name = target.info, wire["metadata"].get("name", "")
        problems = list(metadata_problems(info, wire["metadata"])) if old is None else []
        if old is not None:
            found = list(update_problems(old, wire))
            problems += found * (2 if info.is_custom else 1)  # the real server asks two validators
        if info.is_custom:
            others = {"metadata", "apiVersion", "kind"}
            if target.subresource == "status":
                others |= set(wire) - {"status"}
            elif info.has_status:
                others.add("status")
            node = info.node
            if target.subresource == "status":
                node = {**node, "required": []}
            problems += validate(self._shape.schemas, node, wire, skip=frozenset(others))
        else:
            problems += spec_problems(info, wire, old)
        if problems:
            raise invalid(info, name, problems)

    def _check_namespace(self, target: Target) -> None:
        if not target.info.namespaced:
            return
        namespaces = self._registry.find("", "v1", "namespaces")
        name = target.namespace or ""
        found = self._store.get("namespaces", ("", name))
        if found is None and namespaces is not None:
            raise not_found(namespaces, name)
        if found is not None and found.wire["metadata"].get("deletionTimestamp"):
            why = f"unable to create new content in namespace {name} because it is being terminated"
            raise RefusalError(
                403,
                "Forbidden",
                f'{target.info.group_resource} "{target.name}" is forbidden: {why}',
                {"kind": target.info.plural, "causes": [{"reason": "NamespaceTerminating", "message": why}]},
            )

    def _existing(self, target: Target) -> Stored:
        found = self._store.get(target.info.storage, target.key)
        if found is None:
            raise not_found(target.info, target.name)
        return found

    def _seen(self, target: Target, stored: Stored) -> dict[str, Any]:
        return self._in_version(target, stored)

    def _in_version(self, target: Target, stored: Stored) -> dict[str, Any]:
        """The object as the target's version shows it."""
        if stored.wire["apiVersion"] == target.info.api_version:
            return stored.wire
        return {**stored.wire, "apiVersion": target.info.api_version}

    def _now(self) -> str:
        return format_time(self._clock.now())

    def _next_serial(self) -> int:
        self._serial += 1
        return self._serial


def _own(wire: dict[str, Any]) -> dict[str, Any]:
    """A copy that may be changed in place."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(wire))
    return found


def _unsupported(is_custom: bool, content_type: str) -> RefusalError:
    if content_type not in (MERGE, JSON, STRATEGIC, APPLY):
        return RefusalError(415, "UnsupportedMediaType", "415: Unsupported Media Type", is_plain=True)
    del is_custom
    return RefusalError(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        f"{JSON}, {MERGE}, {APPLY}",
    )

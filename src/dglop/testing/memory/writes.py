# SPDX-License-Identifier: Apache-2.0
"""Creation, replacement, patches and apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.testing.memory.body import (
    checked,
    checked_config,
    fitted,
    other_name,
    read_body,
    read_json,
    read_yaml,
)
from dglop.testing.memory.checks import metadata_warnings
from dglop.testing.memory.kinds import admit, first_status
from dglop.testing.memory.managed import applied, noted
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
from dglop.testing.memory.writeparts import counts_generations, own

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.testing.memory.request import Options, Target
    from dglop.testing.memory.store import Stored
    from dglop.testing.memory.writeparts import WriteParts

    Written = tuple[dict[str, Any], list[str]]
    """The object, and warnings."""

__all__ = ("Writes",)

MERGE, JSON = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
_SPECIFIED = "must be specified for an update"


class Writes:
    """What changes objects, but for deletion. Every method may raise RefusalError."""

    def __init__(self, parts: WriteParts) -> None:
        self._parts = parts
        self._store = parts.store

    def create(self, target: Target, body: bytes, options: Options) -> Written:
        """The new object."""
        wire = read_body(target, body)
        if wire["metadata"].get("resourceVersion"):
            raise internal("resourceVersion should not be set on objects to be created")
        return self._create(target, wire, options, is_applied=False)

    def replace(self, target: Target, body: bytes, options: Options) -> Written:
        """The object as it is after a PUT."""
        info = target.info
        wire = read_body(target, body)
        metadata = wire["metadata"]
        if metadata.setdefault("name", target.name) != target.name:
            raise other_name(target, metadata["name"])
        old = self._parts.existing(target)
        if info.is_custom and not metadata.get("resourceVersion"):
            problem = Problem.invalid("metadata.resourceVersion", 0, _SPECIFIED)
            raise invalid(info, target.name, [problem], kind=info.plural)
        known = old.wire["metadata"]["uid"]
        if (metadata.get("uid") or known) != known:
            raise _other_uid(target, metadata["uid"], known)
        metadata["uid"] = known
        return self.update(target, old, wire, options)

    def patch(self, target: Target, content_type: str, body: bytes, options: Options) -> tuple[Written, bool]:
        """The object after a patch, and whether that made it."""
        info = target.info
        if content_type == APPLY:
            return self._apply(target, body, options)
        known = {MERGE, JSON} if info.is_custom else {MERGE, JSON, STRATEGIC}
        if content_type not in known:
            raise _unsupported(content_type)
        old = self._parts.existing(target)
        patch, current = read_json(body), self._parts.seen(target, old)
        if content_type == JSON:
            wire = json_patched(current, patch)
        elif content_type == MERGE:
            wire = merged(current, patch)
        else:
            wire = strategic(self._parts.shape.schemas, info.node, current, patch)
        if not isinstance(wire, dict):
            raise bad_request("the patched object is no object")
        return self.update(target, old, wire, options), False

    def update(
        self,
        target: Target,
        old: Stored,
        wire: dict[str, Any],
        options: Options,
        by_apply: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> Written:
        """Write *wire* over *old*; *by_apply* notes the owners where this is no plain write."""
        info, parts = target.info, self._parts
        wire, warnings = fitted(parts.shape.schemas, info, checked(target, wire), options.validation)
        warnings += metadata_warnings(info, wire["metadata"])
        if (wire["metadata"].get("resourceVersion") or str(old.version)) != str(old.version):
            raise conflict(info, target.name)
        before = parts.seen(target, old)
        change = Update(info, target.subresource, before, own(wire))
        new = change.prepared(counts=counts_generations(info))
        parts.set_defaults(target, new)
        if target.subresource != "status":
            change.count(new, counts=counts_generations(info))
        if by_apply is not None:
            new = by_apply(new)
        else:
            new = noted(parts.shape, info, before, new, parts.writer(target, options))
        warnings += parts.check_change(target, before, new)
        new["metadata"]["resourceVersion"] = str(old.version)
        if new == before:
            return before, warnings
        if options.dry_run:
            return new, warnings
        if change.ends(new):
            self._store.remove(info.storage, target.key)
            return new, warnings
        return parts.seen(target, self._store.put(info.storage, new)), warnings

    def _create(self, target: Target, wire: dict[str, Any], options: Options, *, is_applied: bool) -> Written:
        info, parts = target.info, self._parts
        parts.check_namespace(target)
        wire, warnings = fitted(parts.shape.schemas, info, wire, options.validation)
        warnings += metadata_warnings(info, wire["metadata"])
        wire = own(wire)
        parts.set_defaults(target, wire)
        parts.begin(target, wire)
        if info.has_status and info.is_custom:
            wire.pop("status", None)
        if not is_applied:
            wire = noted(parts.shape, info, None, wire, parts.writer(target, options))
        if not info.is_custom:
            admit(info, wire, parts.next_serial)
            status = first_status(parts.shape.schemas, info, wire)
            if status is not None:
                wire["status"] = status
        parts.check_new(target, wire)
        name = wire["metadata"]["name"]
        if self._store.get(info.storage, (target.key[0], name)) is not None:
            raise already_exists(info, name)
        if options.dry_run:
            wire["metadata"].pop("resourceVersion", None)
            return wire, warnings
        return self._store.put(info.storage, wire).wire, warnings

    def _apply(self, target: Target, body: bytes, options: Options) -> tuple[Written, bool]:
        if not options.manager:
            problem = Problem.required("fieldManager", "is required for apply patch")
            raise forbidden_option("PatchOptions", problem)
        info, parts = target.info, self._parts
        given = read_yaml(body)
        config = checked_config(target, given)
        writer = parts.writer(target, options)
        place = str((given.get("metadata") or {}).get("namespace") or "")
        old = self._store.get(info.storage, target.key)
        if old is None:
            _check_may_be_made(target, config)
            wire = applied(parts.shape, info, None, config, writer, place=place, force=options.force)
            return self._create(target, wire, options, is_applied=True), True
        live = parts.seen(target, old)
        wire = applied(parts.shape, info, live, config, writer, place=place, force=options.force)
        owners = wire["metadata"].get("managedFields")

        def with_owners(new: dict[str, Any]) -> dict[str, Any]:
            return {**new, "metadata": {**new["metadata"], "managedFields": owners}} if owners else new

        return self.update(target, old, wire, options, with_owners), False


def _check_may_be_made(target: Target, config: dict[str, Any]) -> None:
    uid = config["metadata"].get("uid")
    if uid:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(target.info, target.name, why)
    if target.subresource:
        raise not_found(target.info, target.name)


def _other_uid(target: Target, uid: str, known: str) -> RefusalError:
    info = target.info
    folder = f"{info.group}/{info.plural}" if info.is_custom else info.plural
    where = "/".join(part for part in (folder, *target.key) if part)
    return conflict(
        info,
        target.name,
        f"StorageError: invalid object, Code: 4, Key: /registry/{where}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {known}",
    )


def _unsupported(content_type: str) -> RefusalError:
    if content_type not in {MERGE, JSON, STRATEGIC, APPLY}:
        return RefusalError(415, "UnsupportedMediaType", "415: Unsupported Media Type")
    return RefusalError(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        f"{JSON}, {MERGE}, {APPLY}",
    )

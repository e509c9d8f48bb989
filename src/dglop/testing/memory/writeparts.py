# SPDX-License-Identifier: Apache-2.0
"""What all writes share: what there is, what time it is, and the checks of a new state."""

from __future__ import annotations

import random
import uuid
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.runtime.api.times import format_time
from dglop.testing.memory.checks import metadata_problems, update_problems
from dglop.testing.memory.convert import converted
from dglop.testing.memory.kinds import complete
from dglop.testing.memory.managed import Writer
from dglop.testing.memory.quota import check_quotas
from dglop.testing.memory.refusal import Problem, RefusalError, invalid, not_found
from dglop.testing.memory.rules import has_rules, rule_problems
from dglop.testing.memory.schema import NOTHING
from dglop.testing.memory.speccheck import spec_problems
from dglop.testing.memory.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.clock import Clock
    from dglop.testing.memory.fieldset import Shape
    from dglop.testing.memory.request import Options, Target
    from dglop.testing.memory.resources import Registry, ResourceInfo
    from dglop.testing.memory.store import Store, Stored

__all__ = ("WriteParts", "counts_generations", "own")

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_GENERATION = frozenset(
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
# With one of these an object's rules are not even asked.
_BLOCKING = frozenset(
    {
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    }
)
_UNASKED = Problem(
    "FieldValueInvalid",
    "<nil>",
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)


def counts_generations(info: ResourceInfo) -> bool:
    """Whether the resource's objects have a generation; of the built-in ones only some do."""
    return info.is_custom or info.storage in _GENERATION


def own(wire: dict[str, Any]) -> dict[str, Any]:
    """A copy that may be changed in place."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(wire))
    return found


class WriteParts:
    """The store and its rules, as writes need them. Methods may raise RefusalError."""

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
        self.store = store
        self.shape = shape
        self._registry = registry
        self._clock = clock
        self._new_uid = new_uid
        self._choose = choose
        self._serial = 0

    def now(self) -> str:
        return format_time(self._clock.now())

    def existing(self, target: Target) -> Stored:
        found = self.store.get(target.info.storage, target.key)
        if found is None:
            raise not_found(target.info, target.name)
        return found

    def writer(self, target: Target, options: Options) -> Writer:
        # The real server leaves the time out where something is scaled.
        time = "" if target.subresource == "scale" else self.now()
        return Writer(options.manager, target.subresource, time)

    def set_defaults(self, target: Target, wire: dict[str, Any]) -> None:
        """Set a built-in object's defaults in place; a custom one's come with its schema."""
        if not target.info.is_custom:
            complete(target.info, wire)

    def next_serial(self) -> int:
        self._serial += 1
        return self._serial

    def begin(self, target: Target, wire: dict[str, Any]) -> None:
        """Set in place what the server gives a new object."""
        metadata = wire["metadata"]
        for field in ("selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"):
            metadata.pop(field, None)
        if not metadata.get("name") and metadata.get("generateName"):
            ending = "".join(self._choose(_LETTERS) for _ in range(5))
            metadata["name"] = metadata["generateName"][:58] + ending
        metadata["uid"] = self._new_uid()
        metadata["creationTimestamp"] = self.now()
        if counts_generations(target.info):
            metadata["generation"] = 1

    def check_new(self, target: Target, wire: dict[str, Any]) -> None:
        """Refuse a new object that cannot be, or that there is no room for."""
        problems = list(metadata_problems(target.info, wire["metadata"]))
        problems += self._spec_problems(target, wire, None)[0]
        if problems:
            raise invalid(target.info, wire["metadata"].get("name", ""), problems)
        check_quotas(self.store, target.info, wire)

    def check_change(self, target: Target, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        """Refuse a state that cannot follow *old*; warnings of what may stay although it is wrong."""
        found = list(update_problems(old, new))
        problems = found * (2 if target.info.is_custom else 1)  # the real server asks two validators
        more, warnings = self._spec_problems(target, new, old)
        problems += more
        if problems:
            raise invalid(target.info, target.name, problems, warnings=warnings)
        return warnings

    def _spec_problems(
        self, target: Target, wire: dict[str, Any], old: dict[str, Any] | None
    ) -> tuple[list[Problem], list[str]]:
        """What is wrong, and what is wrong too but may stay."""
        info = target.info
        if not info.is_custom:
            return (list(spec_problems(info, wire, old)) if target.subresource != "status" else []), []
        left_out, node = {"metadata", "apiVersion", "kind"}, info.node
        if target.subresource == "status":
            left_out |= set(wire) - {"status"}
            node = {**node, "required": []}
        elif info.has_status:
            left_out.add("status")
        schemas, before = self.shape.schemas, old or NOTHING
        problems = validate(schemas, node, wire, before, skip=frozenset(left_out))
        if any(each.reason in _BLOCKING for each in problems):
            return ([*problems, _UNASKED] if has_rules(info.node) else problems), []
        broken = list(rule_problems(schemas, info.node, wire, before))
        problems += [problem for problem, may_stay in broken if not may_stay]
        return problems, [str(problem) for problem, may_stay in broken if may_stay]

    def check_namespace(self, target: Target) -> None:
        """Refuse to make something where there is no namespace, or one that ends."""
        if not target.info.namespaced:
            return
        namespaces = self._registry.find("", "v1", "namespaces")
        name = target.namespace or ""
        found = self.store.get("namespaces", ("", name))
        if found is None and namespaces is not None:
            raise not_found(namespaces, name)
        if found is not None and found.wire["metadata"].get("deletionTimestamp"):
            raise _terminating(target, name)

    @staticmethod
    def seen(target: Target, stored: Stored) -> dict[str, Any]:
        """The object as the target's version shows it."""
        return converted(target.info, stored.wire)


def _terminating(target: Target, namespace: str) -> RefusalError:
    info = target.info
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    causes = [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
    ]
    details = {"name": target.name, "group": info.group, "kind": info.plural, "causes": causes}
    kept = {name: value for name, value in details.items() if value}
    return RefusalError(403, "Forbidden", f'{info.group_resource} "{target.name}" is forbidden: {why}', kept)

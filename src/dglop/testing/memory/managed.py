# SPDX-License-Identifier: Apache-2.0
"""metadata.managedFields: who owns which field, after plain writes and after apply."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dglop.testing.memory.fieldset import (
    FieldSet,
    Path,
    Shape,
    compared,
    decoded,
    encoded,
    fields_of,
    readable,
)
from dglop.testing.memory.merge import merged_by_schema, without
from dglop.testing.memory.refusal import RefusalError, internal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dglop.testing.memory.resources import Node, ResourceInfo

__all__ = ("Owner", "Writer", "applied", "noted")

_META = "f:metadata"
_STRIPPED = (
    "name namespace creationTimestamp deletionTimestamp deletionGracePeriodSeconds selfLink uid generation "
    "generateName managedFields resourceVersion"
)
_NEVER: FieldSet = frozenset(
    {("f:apiVersion",), ("f:kind",), (_META,), *((_META, f"f:{name}") for name in _STRIPPED.split())}
) - {(_META, "f:generateName")}


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, what part of the object, and when."""

    manager: str
    subresource: str
    now: str


@dataclass(frozen=True, slots=True)
class Owner:
    """One entry of managedFields."""

    manager: str
    operation: str
    api_version: str
    subresource: str
    time: str
    fields: FieldSet

    @property
    def identity(self) -> tuple[str, str, str, str]:
        # Whoever applies is one owner, whatever version it applies.
        version = "" if self.operation == "Apply" else self.api_version
        return (self.operation, self.manager, version, self.subresource)

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Owner:
        return cls(
            entry.get("manager", ""),
            entry.get("operation", ""),
            entry.get("apiVersion", ""),
            entry.get("subresource", ""),
            entry.get("time", ""),
            decoded(entry.get("fieldsV1") or {}),
        )

    def wire(self) -> dict[str, Any]:
        entry = {"manager": self.manager, "operation": self.operation, "apiVersion": self.api_version}
        entry |= {"time": self.time} if self.time else {}
        whole: dict[str, Any] = {**entry, "fieldsType": "FieldsV1", "fieldsV1": encoded(self.fields)}
        return whole | ({"subresource": self.subresource} if self.subresource else {})

    def __str__(self) -> str:
        text = f'"{self.manager}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return text if self.operation == "Apply" else f"{text} using {self.api_version}"


def owners_of(wire: Mapping[str, Any]) -> list[Owner]:
    return [Owner.of(entry) for entry in wire["metadata"].get("managedFields") or ()]


def noted(
    shape: Shape, info: ResourceInfo, old: dict[str, Any] | None, new: dict[str, Any], writer: Writer
) -> dict[str, Any]:
    """*new* with managedFields that say what *writer* changed by a plain write."""
    node = info.node
    before = old if old is not None else _nothing(shape, info)
    # Only one empty entry throws the record away; an empty list does not.
    kept = [] if new["metadata"].get("managedFields") == [{}] else owners_of(old or {"metadata": {}})
    if old is not None and not kept:
        return _with_owners(new, [])  # nobody keeps a record of it before somebody applies
    changed, removed = compared(shape, node, _bare(before), _bare(new))
    changed, removed = _relevant(changed, info, writer), removed - _NEVER
    mine = Owner(writer.manager, "Update", info.api_version, writer.subresource, writer.now, frozenset())
    result: list[Owner] = []
    for each in kept:
        left = each.fields - removed
        if each.identity == mine.identity:
            mine = replace(mine, fields=left | mine.fields, time=each.time)
            continue
        left -= changed
        if left:
            result.append(replace(each, fields=left))
    fields = mine.fields | changed
    if fields:
        time = writer.now if changed else mine.time
        result.append(replace(mine, fields=fields, time=time))
    return _with_owners(new, result)


def applied(
    shape: Shape,
    info: ResourceInfo,
    live: dict[str, Any] | None,
    config: dict[str, Any],
    writer: Writer,
    *,
    place: str,
    force: bool,
) -> dict[str, Any]:
    """
    *live* with *config* applied; *place* is the namespace that it says itself.

    Raises RefusalError: 409 with what conflicts, 500 for what cannot be.
    """
    node = info.node
    for problem in shape.schemas.problems_of_apply(node, config):
        raise _untyped(info, f"{place}/{config['metadata'].get('name', '')}", problem)
    wanted = _relevant(fields_of(shape, node, config), info, writer)
    base = live or {"apiVersion": info.api_version, "kind": info.kind, "metadata": {}}
    if live is not None and not owners_of(live):
        first = Writer("before-first-apply", "", writer.now)
        base = noted(shape, info, None, live, first)
    new = merged_by_schema(shape, node, base, config)
    mine = Owner(writer.manager, "Apply", info.api_version, writer.subresource, writer.now, wanted)
    last, others = _parted(owners_of(base), mine)
    if last is not None:
        new = _pruned(shape, node, new, last.fields - wanted, others)
    changed, removed = compared(shape, node, _bare(base), _bare(new))
    if live is not None and not changed and not removed:
        mine = replace(mine, time=last.time if last else "")  # an owner of nothing new has no time
    conflicts = [(each, each.fields & changed) for each in others]
    conflicts = [(each, fields) for each, fields in conflicts if fields]
    if conflicts and not force:
        raise _conflict(conflicts)
    left = [replace(each, fields=each.fields - changed - removed) for each in others]
    owners = [each for each in left if each.fields] + ([mine] if wanted else [])
    return _with_owners(new, owners)


def _untyped(info: ResourceInfo, name: str, problem: str) -> RefusalError:
    what = f"({name}; {info.group}/{info.version}, Kind={info.kind})"
    return internal(f"failed to create typed patch object {what}: {problem}")


def _parted(owners: list[Owner], mine: Owner) -> tuple[Owner | None, list[Owner]]:
    last = next((each for each in owners if each.identity == mine.identity), None)
    return last, [each for each in owners if each.identity != mine.identity]


def _pruned(
    shape: Shape, node: Node, value: dict[str, Any], dropped: Iterable[Path], others: list[Owner]
) -> dict[str, Any]:
    """*value* without the fields that were applied before and are owned by nobody now."""
    owned: set[Path] = set()
    for each in others:
        for path in each.fields:
            owned.update(path[:length] for length in range(1, len(path) + 1))
    gone = {path for path in dropped if path not in owned}
    result = without(shape, node, value, gone)
    return result if isinstance(result, dict) else {}


def _conflict(conflicts: list[tuple[Owner, FieldSet]]) -> RefusalError:
    found = sorted(
        ((str(owner), readable(path)) for owner, fields in conflicts for path in fields),
    )
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {who}", "field": field}
        for who, field in found
    ]
    groups: dict[str, list[str]] = {}
    for who, field in found:
        groups.setdefault(who, []).append(field)
    parts = []
    for who, fields in groups.items():
        if len(found) == 1:
            parts.append(f"conflict with {who}: {fields[0]}")
        else:
            parts.append("\n".join([f"conflicts with {who}:", *(f"- {field}" for field in fields)]))
    count = f"{len(found)} conflict{'s' if len(found) > 1 else ''}"
    message = f"Apply failed with {count}: " + "\n".join(parts)
    return RefusalError(409, "Conflict", message, {"causes": causes})


def _relevant(fields: FieldSet, info: ResourceInfo, writer: Writer) -> FieldSet:
    """The fields that this kind of write can own at all."""
    kept = fields - _NEVER
    if not info.has_status:
        return kept
    if writer.subresource == "status":
        return frozenset(path for path in kept if path[0] == "f:status")
    return frozenset(path for path in kept if path[0] != "f:status")


def _nothing(shape: Shape, info: ResourceInfo) -> dict[str, Any]:
    if info.is_custom:
        return {"metadata": {}}
    return {"metadata": {}, **shape.schemas.zero(info.node)}


def _bare(wire: dict[str, Any]) -> dict[str, Any]:
    if "managedFields" not in wire["metadata"]:
        return wire
    metadata = {name: each for name, each in wire["metadata"].items() if name != "managedFields"}
    return {**wire, "metadata": metadata}


def _with_owners(wire: dict[str, Any], owners: list[Owner]) -> dict[str, Any]:
    metadata = dict(wire["metadata"])
    metadata.pop("managedFields", None)
    if owners:
        ordered = sorted(owners, key=lambda each: (each.operation, each.time, each.manager, each.subresource))
        metadata["managedFields"] = [each.wire() for each in ordered]
    return {**wire, "metadata": metadata}

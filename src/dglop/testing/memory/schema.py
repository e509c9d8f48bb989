# SPDX-License-Identifier: Apache-2.0
"""Schemas at work: unknown fields, nulls, defaults, and how lists and maps are merged."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dglop.testing.memory.resources import Node

__all__ = ("NOTHING", "Schemas", "join")

NOTHING: Any = object()
"""There was nothing before."""
PRESERVE = "x-kubernetes-preserve-unknown-fields"
_ZERO: dict[str, Any] = {"string": "", "integer": 0, "boolean": False}
EMBEDDED = "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"


def join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


class Schemas:
    """Reads schemas that may refer to types by name."""

    def __init__(self, types: Mapping[str, Node]) -> None:
        self._types = types

    def resolve(self, node: Node | None) -> Node:
        """*node* itself, or the type it refers to with what is said beside the reference."""
        if not node:
            return {}
        name = node.get("$ref")
        if name is None:
            return node
        return {**self._types[name], **{key: value for key, value in node.items() if key != "$ref"}}

    def child(self, node: Node, name: str) -> Node | None:
        """The schema of a member; None where the schema knows none."""
        properties = node.get("properties")
        if properties and name in properties:
            return self.resolve(properties[name])
        extra = node.get("additionalProperties")
        if isinstance(extra, dict):
            return self.resolve(extra)
        return None

    def items(self, node: Node) -> Node:
        return self.resolve(node.get("items"))

    def is_open(self, node: Node) -> bool:
        """Whether members that the schema does not name are kept."""
        if node.get(PRESERVE) or node.get(EMBEDDED):
            return True
        return "properties" not in node and not isinstance(node.get("additionalProperties"), dict)

    def keys(self, node: Node) -> list[str] | None:
        """The keys of a list that is a map."""
        if node.get("x-kubernetes-list-type") == "map":
            return list(node["x-kubernetes-list-map-keys"])
        return None

    def is_set(self, node: Node) -> bool:
        return node.get("x-kubernetes-list-type") == "set"

    def is_atomic_map(self, node: Node) -> bool:
        return node.get("x-kubernetes-map-type") == "atomic"

    def key_of(self, node: Node, item: Any) -> dict[str, Any]:
        """The key of an item of a list that is a map, with the keys' defaults."""
        items = self.items(node)
        found: dict[str, Any] = {}
        for key in self.keys(node) or ():
            default = (self.child(items, key) or {}).get("default")
            value = item.get(key, default) if isinstance(item, dict) else None
            if value is not None:
                found[key] = value
        return found

    def counterpart(self, node: Node, item: Any, old: Any) -> Any:
        """The item of the same key in the list as it was, or NOTHING: only lists that are maps have keys."""
        if self.keys(node) is None or not isinstance(old, list):
            return NOTHING
        key = self.key_of(node, item)
        return next((each for each in old if self.key_of(node, each) == key), NOTHING)

    def prune(self, node: Node, value: Any, path: str = "") -> tuple[Any, list[str]]:
        """*value* without what the schema does not know, and the paths of that."""
        gone: list[str] = []
        return self._prune(node, value, path, gone), gone

    def _prune(self, node: Node, value: Any, path: str, gone: list[str]) -> Any:
        if isinstance(value, list):
            items = self.items(node)
            return [self._prune(items, each, f"{path}[{index}]", gone) for index, each in enumerate(value)]
        if not isinstance(value, dict):
            return value
        kept: dict[str, Any] = {}
        is_open = self.is_open(node)
        for name, each in value.items():
            child = self.child(node, name)
            if child is not None:
                kept[name] = self._prune(child, each, join(path, name), gone)
            elif is_open:
                kept[name] = each
            else:
                gone.append(join(path, name))
        return kept

    def complete(self, node: Node, value: Any) -> Any:
        """A custom object with defaults, and without the nulls that its schema does not allow."""
        if isinstance(value, list):
            items = self.items(node)
            return [self.complete(items, each) for each in value]
        if not isinstance(value, dict):
            return value
        result = dict(value)
        for name, raw in (node.get("properties") or {}).items():
            child = self.resolve(raw)
            if name in result and result[name] is None and not child.get("nullable"):
                del result[name]
            if name not in result and "default" in child and name != "metadata":
                result[name] = copy.deepcopy(child["default"])
        for name, each in list(result.items()):
            found = self.child(node, name)
            if found is not None and each is None and not found.get("nullable"):
                del result[name]
            elif found is not None and isinstance(each, dict | list):
                result[name] = self.complete(found, each)
        return result

    def without_nulls(self, node: Node, value: Any) -> Any:
        """A built-in object as its Go type keeps it: a null is nothing, a quantity is text."""
        if isinstance(value, list):
            items = self.items(node)
            return [self.without_nulls(items, each) for each in value]
        if not isinstance(value, dict):
            is_quantity = [each.get("type") for each in node.get("oneOf", ())] == ["string", "number"]
            return str(value) if is_quantity and isinstance(value, int | float) else value
        result = {}
        for name, each in value.items():
            child = self.child(node, name)
            if each is None or (child is not None and _is_omitted(node, name, child, each)):
                continue
            result[name] = each if child is None else self.without_nulls(child, each)
        return result

    def zero(self, node: Node) -> dict[str, Any]:
        """What a built-in type is before anything is set: its parts that are no pointers."""
        found: dict[str, Any] = {}
        for name, raw in (node.get("properties") or {}).items():
            if raw.get("default") == {} and "$ref" in raw:
                found[name] = self.zero(self.resolve(raw))
            elif name in node.get("required", ()):
                found[name] = _ZERO.get(self.resolve(raw).get("type", ""))
        return found

    def problems_of_apply(self, node: Node, value: Any, path: str = "") -> Iterator[str]:
        """Why a configuration cannot be applied: what is not declared, of another type, or twice there."""
        if isinstance(value, dict):
            for name, each in value.items():
                child = self.child(node, name)
                if child is not None:
                    yield from self.problems_of_apply(child, each, f"{path}.{name}")
                elif not self.is_open(node):
                    yield f"{path}.{name}: field not declared in schema"
        elif isinstance(value, list):
            yield from self._problems_of_list(node, value, path)
        elif (problem := _mismatch(node, value)) is not None:
            yield f"{path}: {problem}"

    def _problems_of_list(self, node: Node, value: list[Any], path: str) -> Iterator[str]:
        seen: list[Any] = []
        items, keys = self.items(node), self.keys(node)
        for each in value:
            yield from self.problems_of_apply(items, each, path)
            if keys is None and not self.is_set(node):
                continue
            key = each if keys is None else self.key_of(node, each)
            if key in seen:
                pairs = key.items() if isinstance(key, dict) else [("", key)]
                shown = ",".join(
                    f'{name}="{each}"' if isinstance(each, str) else f"{name}={each}" for name, each in pairs
                )
                yield f"{path}: duplicate entries for key [{shown}]"
            seen.append(key)


def _is_omitted(node: Node, name: str, child: Node, value: Any) -> bool:
    """Whether Go leaves *value* out: an empty list or map that need not be there."""
    if (
        value not in ([], {}, "")
        or name in node.get("required", ())
        or name not in (node.get("properties") or {})
    ):
        return False
    if value == "":
        return name == "value" and "valueFrom" in node["properties"]  # of a container's variable
    return child.get("type") == "array" or "additionalProperties" in child


def _mismatch(node: Node, value: Any) -> str | None:
    wanted = node.get("type")
    if value is None or wanted is None:
        return None
    found = "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"
    if wanted in ("integer", "number") and found != "number":
        return f"expected numeric (int or float), got {found if found == 'string' else 'bool'}"
    if wanted == "string" and found != "string":
        return f"expected string, got &value.valueUnstructured{{Value:{value}}}"
    if wanted == "boolean" and found != "boolean":
        return f"expected boolean, got {found}"
    if wanted in ("object", "array"):
        return f"expected {'map' if wanted == 'object' else 'list'}, got &{{{value}}}"
    return None

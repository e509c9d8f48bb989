# SPDX-License-Identifier: Apache-2.0
"""What the real server does not take in a CRD's schema, and patterns that cannot be evaluated in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.testing.memory.patterns import UnknownPatternError, go_pattern
from dglop.testing.memory.refusal import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("unusable_parts",)

_TYPES = ("array", "boolean", "integer", "number", "object", "string")


def unusable_parts(node: Any, path: str) -> Iterator[Problem]:
    """The types and patterns, at any depth, with which a CRD is refused."""
    if not isinstance(node, dict):
        return
    if node.get("type") and node["type"] not in _TYPES:
        yield Problem.unsupported(f"{path}.type", node["type"], _TYPES)
        if node["type"] == "null":
            why = "type cannot be set to null, use nullable as an alternative"
            yield Problem.forbidden(f"{path}.type", why)
    if isinstance(node.get("pattern"), str):
        try:
            go_pattern(node["pattern"])
        except UnknownPatternError as problem:
            yield Problem.invalid(f"{path}.pattern", node["pattern"], str(problem))
    for name, each in (node.get("properties") or {}).items():
        yield from unusable_parts(each, f"{path}.properties[{name}]")
    for name in ("additionalProperties", "items"):
        yield from unusable_parts(node.get(name), f"{path}.{name}")

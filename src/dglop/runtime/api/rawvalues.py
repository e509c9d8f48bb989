# SPDX-License-Identifier: Apache-2.0
"""Small readings of raw JSON that RawPod and RawContainer share."""

from __future__ import annotations

from typing import Any, TypeVar

from dglop.errors import SchemaError

__all__ = ("as_text", "set_default", "texts_of")

T = TypeVar("T")


def as_text(value: Any) -> str:
    """A scalar as YAML's writer meant it: true is "true", 1 is "1", null is ""."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def texts_of(mapping: Any) -> Any:
    """The mapping with its scalars as text; what is no mapping is left for the API server to refuse."""
    if not isinstance(mapping, dict):
        return mapping
    return {
        key: value if isinstance(value, dict | list) else as_text(value) for key, value in mapping.items()
    }


def set_default(owner: dict[str, Any], key: str, kind: type[T], where: str) -> T:
    """`owner[key]`, put there empty where it is absent or null.

    Raises SchemaError where it is of another kind.
    """
    value = owner.get(key)
    if value is None:
        value = owner[key] = kind()
    if not isinstance(value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise SchemaError(f"{where} must be {wanted}, not {type(value).__name__}")
    return value

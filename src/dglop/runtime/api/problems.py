# SPDX-License-Identifier: Apache-2.0
"""Sentences for data that does not fit its type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dglop.errors import SchemaError
from dglop.runtime.api.outline import outline

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = ("path_of", "schema_error")

_SHOWN = 5
_DEEPEST = 5


def schema_error(kind: str, wire: Mapping[str, Any] | bytes | str, problem: ValidationError) -> SchemaError:
    """A SchemaError that names the object, and of each problem the path and what is wrong there."""
    found = [f"{path_of(each['loc'])}: {each['msg']}" for each in problem.errors(include_url=False)]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return SchemaError(f"{kind} {_identity(wire)}: {'; '.join(found[:_SHOWN])}{more}")


def path_of(loc: tuple[int | str, ...]) -> str:
    """`spec.items[2].name` from pydantic's location."""
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.lstrip(".") or "(the whole object)"


def _identity(wire: Mapping[str, Any] | bytes | str) -> str:
    if isinstance(wire, bytes | str):
        data = wire.encode() if isinstance(wire, str) else wire
        try:
            # Metadata lies further out than what may be nested too deep.
            wire = json.loads(outline(data, _DEEPEST))
        except ValueError:
            return "(not JSON)"
    metadata = wire.get("metadata") if isinstance(wire, Mapping) else None
    if not isinstance(metadata, Mapping):
        return "(no metadata)"
    namespace, name = metadata.get("namespace"), metadata.get("name", "(no name)")
    return f"{namespace}/{name}" if namespace else str(name)

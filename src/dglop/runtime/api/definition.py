# SPDX-License-Identifier: Apache-2.0
"""What a CRD says of a kind beside its schema: names, columns, rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.runtime.api.markers import CEL

__all__ = ("Column", "Definition", "Scope")

Scope = Literal["Namespaced", "Cluster"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; a priority above 0 shows it with `-o wide` only."""

    path: str
    type: str = "string"
    description: str = ""
    format: str = ""
    priority: int = 0

    @classmethod
    def of(cls, value: str | Self) -> Column:
        """A column from its JSON path; a path that ends in Timestamp or Time is a date."""
        if isinstance(value, Column):
            return value
        is_date = value.endswith(("Timestamp", "Time"))
        return Column(value, "date" if is_date else "string")

    def to_wire(self, name: str) -> dict[str, Any]:
        wire: dict[str, Any] = {"name": name, "type": self.type, "jsonPath": self.path}
        pairs = (("description", self.description), ("format", self.format), ("priority", self.priority))
        return wire | {key: value for key, value in pairs if value}


@dataclass(frozen=True, slots=True)
class Definition:
    """The class keywords of a kind."""

    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)
    rules: tuple[CEL, ...] = ()

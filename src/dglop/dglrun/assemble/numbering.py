# SPDX-License-Identifier: Apache-2.0
"""New ids: contiguous in each part, and in it in each type, as DGL's range partition book wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List

if TYPE_CHECKING:
    from ..inputs.source import Array
    from .mesh import Mesh

__all__ = ("Numbering",)


class Numbering:
    """Where the ids of each part and type begin. Within them the old order is kept.

    `counts[rank, part, type]` is how many of them each process has in its share.
    """

    def __init__(self, mesh: Mesh, parts: Array, types: Array, num_parts: int, num_types: int) -> None:
        """`parts` and `types`: of each row of the own share."""
        import numpy as np  # noqa: PLC0415

        self.num_parts: int = num_parts
        self.num_types: int = num_types
        self._rank = mesh.rank
        own = np.bincount(parts * num_types + types, minlength=num_parts * num_types).astype(np.int64)
        self.counts: Array = np.stack(mesh.exchange([own] * mesh.size)).reshape(-1, num_parts, num_types)
        flat = self.counts.sum(axis=0).reshape(-1)
        # one more than there are, so that also the last range has an end
        self.starts: Array = np.concatenate([[0], np.cumsum(flat)]).astype(np.int64)

    def start(self, part: int, kind: int = 0) -> int:
        return int(self.starts[part * self.num_types + kind])

    def end(self, part: int, kind: int) -> int:
        return int(self.starts[part * self.num_types + kind + 1])

    def part_of(self, numbers: Array) -> Array:
        """The part of each new id."""
        import numpy as np  # noqa: PLC0415

        return np.searchsorted(self.starts[:: self.num_types], numbers, side="right") - 1

    def type_of(self, numbers: Array) -> Array:
        """The type of each new id."""
        import numpy as np  # noqa: PLC0415

        return (np.searchsorted(self.starts, numbers, side="right") - 1) % self.num_types

    def numbers(self, parts: Array, types: Array) -> Array:
        """The new id of each row of the own share."""
        import numpy as np  # noqa: PLC0415

        keys = parts * self.num_types + types
        before = self.counts[: self._rank].sum(axis=0).reshape(-1)
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        place = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
        found = np.empty(len(keys), np.int64)
        found[order] = self.starts[ordered] + before[ordered] + place
        return found

    def ranges(self, names: List[str]) -> Dict[str, Any]:
        """DGL's node_map or edge_map: by type the first and the last id plus one, of every part."""
        return {
            name: [[self.start(part, kind), self.end(part, kind)] for part in range(self.num_parts)]
            for kind, name in enumerate(names)
        }

# SPDX-License-Identifier: Apache-2.0
"""A row of values that is spread over the processes, read by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..inputs.source import Array
    from .mesh import Mesh

__all__ = ("Directory", "Lookup", "routed")


class Directory:
    """Value i lies with the process in whose bounds i is."""

    def __init__(self, mesh: Mesh, bounds: Array, own: Array) -> None:
        self._mesh, self._bounds = mesh, bounds
        self.own: Array = own

    def read(self, numbers: Array) -> Array:
        """The values of `numbers`, any and in any order. All processes must call it, also with none."""
        return Lookup(self._mesh, self._bounds, numbers).read(self.own)


class Lookup:
    """The same numbers read again and again from a row that changes: they are sent once."""

    def __init__(self, mesh: Mesh, bounds: Array, numbers: Array) -> None:
        import numpy as np  # noqa: PLC0415

        self._mesh = mesh
        asked, self._back = np.unique(numbers, return_inverse=True)
        cuts: Array = np.searchsorted(asked, bounds)
        pieces = [asked[cuts[rank] : cuts[rank + 1]] for rank in range(mesh.size)]
        low = bounds[mesh.rank]
        self._wanted = [each - low for each in mesh.exchange(pieces)]

    def read(self, own: Array) -> Array:
        """`own` is this process' share of the row as it is now."""
        import numpy as np  # noqa: PLC0415

        got = self._mesh.exchange([own[each] for each in self._wanted])
        return np.concatenate(got)[self._back]


def routed(owners: Array, size: int) -> "tuple[Array, Array]":
    """An order that sorts rows by who gets them, kept as they are otherwise, and where each one's begin."""
    import numpy as np  # noqa: PLC0415

    order = np.argsort(owners, kind="stable")
    return order, np.searchsorted(owners[order], np.arange(size + 1))

# SPDX-License-Identifier: Apache-2.0
"""Rows in files: what every format offers, several files as one, and numbers as DGL can keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Sequence, Tuple

from ..ending import config_refusal

if TYPE_CHECKING:
    from .source import Array

__all__ = ("Chunks", "Table", "kept_dtype")


class Table:
    """Rows of one dtype and shape, in one file or several. `read` touches only what the rows need."""

    rows: int
    dtype: Any
    shape: Tuple[int, ...]

    def read(self, lo: int, hi: int) -> Array:
        """The rows lo to hi-1, a new array. Raises Refusal (ConfigInvalid)."""
        raise NotImplementedError

    def place(self, row: int) -> str:
        """Where a row stands, for messages."""
        raise NotImplementedError


class Chunks(Table):
    """Files whose rows follow each other."""

    def __init__(self, tables: Sequence[Table]) -> None:
        """Raises Refusal (ConfigInvalid) where their rows differ in type or shape."""
        first = tables[0]
        self._tables: List[Table] = list(tables)
        self.rows: int = sum(table.rows for table in tables)
        self.dtype: Any = first.dtype
        self.shape: Tuple[int, ...] = first.shape
        for table in tables:
            if (table.dtype, table.shape) != (self.dtype, self.shape):
                raise config_refusal(
                    "%s has rows of type %s and shape %s, %s of type %s and shape %s: chunks must be alike"
                    % (first.place(0), self.dtype, self.shape, table.place(0), table.dtype, table.shape)
                )

    def read(self, lo: int, hi: int) -> Array:
        import numpy as np  # noqa: PLC0415

        found: List[Array] = [np.empty((0, *self.shape), self.dtype)]
        begin = 0
        for table in self._tables:
            first, last = max(lo - begin, 0), min(hi - begin, table.rows)
            if first < last:
                found.append(table.read(first, last))
            begin += table.rows
        # most shares lie in one file, and need no copy
        return found[1] if len(found) == 2 else np.concatenate(found)

    def place(self, row: int) -> str:
        for table in self._tables:
            if row < table.rows:
                return table.place(row)
            row -= table.rows
        return self._tables[-1].place(row)


def kept_dtype(dtype: Any, place: str) -> Any:
    """The dtype in which DGL keeps numbers of `dtype`: its own, or a signed one with room for them.

    Raises Refusal (ConfigInvalid) for what are no numbers.
    """
    import numpy as np  # noqa: PLC0415

    native = np.dtype(dtype).newbyteorder("=")
    if native.kind == "u" and native.itemsize > 1:
        return np.dtype("int32" if native.itemsize == 2 else "int64")
    if native.kind in "biu" or native in (np.dtype("float16"), np.dtype("float32"), np.dtype("float64")):
        return native
    raise config_refusal(
        "%s holds values of type %s: DGL keeps whole numbers, floats and booleans" % (place, dtype)
    )

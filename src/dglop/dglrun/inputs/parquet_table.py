# SPDX-License-Identifier: Apache-2.0
"""Files of Parquet, read by row groups; pyarrow is asked for only where there is such a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

from ..ending import config_refusal
from .tables import Table, kept_dtype

if TYPE_CHECKING:
    from .source import Array

__all__ = ("ParquetFile", "ParquetTable")


class ParquetFile:
    """The columns of a file, and which of its row groups hold which rows."""

    def __init__(self, path: str) -> None:
        """Raises Refusal (ConfigInvalid) for what is no such file, and where pyarrow is missing."""
        import numpy as np  # noqa: PLC0415

        try:
            import pyarrow as pa  # noqa: PLC0415
            from pyarrow import parquet  # noqa: PLC0415
        except ImportError as error:
            raise config_refusal(
                "%s is a file of Parquet, and this image has no pyarrow to read it: add it to the image, "
                "or bring the graph as CSV or NumPy" % path
            ) from error
        self.path = path
        try:
            self._file = parquet.ParquetFile(path)
        except (OSError, pa.ArrowException) as error:
            raise config_refusal("%s is no Parquet file that can be read: %s" % (path, error)) from error
        metadata = self._file.metadata
        counts = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        self._begins: Array = np.concatenate([[0], np.cumsum(np.asarray(counts, np.int64))]).astype(np.int64)
        self.rows: int = int(metadata.num_rows)
        self.names: List[str] = list(self._file.schema_arrow.names)

    def read(self, column: int, lo: int, hi: int) -> Array:
        """Values of one column: numbers, or rows of numbers where it holds lists. Raises Refusal."""
        import numpy as np  # noqa: PLC0415
        import pyarrow as pa  # noqa: PLC0415

        first = max(0, int(np.searchsorted(self._begins, lo, side="right")) - 1)
        last = int(np.searchsorted(self._begins, hi, side="left"))
        groups = list(range(first, min(last, len(self._begins) - 1)))
        try:
            table = self._file.read_row_groups(groups, columns=[self.names[column]])
        except (OSError, pa.ArrowException) as error:
            raise config_refusal("%s cannot be read: %s" % (self.path, error)) from error
        begin = lo - int(self._begins[first])
        return self._array(table.column(0).slice(begin, hi - lo), column, lo)

    def _array(self, values: Any, column: int, lo: int) -> Array:
        import numpy as np  # noqa: PLC0415
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import compute  # noqa: PLC0415

        whole = values.combine_chunks()
        if isinstance(whole, pa.ChunkedArray):
            # what some releases make of many chunks, and of none
            whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
        self._refuse_nulls(whole, column, lo)
        if not pa.types.is_nested(whole.type):
            return whole.to_numpy(zero_copy_only=False)
        flat = whole.flatten()
        self._refuse_nulls(flat, column, lo)
        lengths = set(compute.unique(compute.list_value_length(whole)).to_pylist())
        if len(lengths) > 1:
            raise config_refusal(
                "%s column %s, from row %d on: the lists have %s values, all must have as many"
                % (self.path, self.names[column], lo, " and ".join(map(str, sorted(lengths)[:2])))
            )
        numbers = self._array(flat, column, lo) if pa.types.is_nested(flat.type) else flat.to_numpy(
            zero_copy_only=False
        )  # fmt: skip
        return np.reshape(numbers, (len(whole), lengths.pop() if lengths else 0, *numbers.shape[1:]))

    def _refuse_nulls(self, values: Any, column: int, lo: int) -> None:
        if values.null_count:
            raise config_refusal(
                "%s column %s, from row %d on: %d values are missing (null), a graph needs all of them"
                % (self.path, self.names[column], lo, values.null_count)
            )


class ParquetTable(Table):
    """Some columns of a file: one by itself, or several as the rows of an array."""

    def __init__(
        self, file: ParquetFile, columns: Sequence[int], dtype: Optional[Any] = None, *, flat: bool = False
    ) -> None:
        import numpy as np  # noqa: PLC0415

        self._file, self._columns = file, list(columns)
        self.rows: int = file.rows
        found = [file.read(column, 0, min(1, file.rows)) for column in columns]
        if dtype is None:
            dtypes = [kept_dtype(array.dtype, "%s column %s" % (file.path, file.names[column]))
                      for array, column in zip(found, columns)]  # fmt: skip
            dtype = np.result_type(*dtypes)
        self.dtype: Any = np.dtype(dtype)
        inner: Tuple[int, ...] = tuple(found[0].shape[1:])
        self._alone = flat or bool(inner)
        self.shape: Tuple[int, ...] = inner if self._alone else (len(columns),)

    def read(self, lo: int, hi: int) -> Array:
        import numpy as np  # noqa: PLC0415

        if lo >= hi:
            return np.empty((0, *self.shape), self.dtype)
        found = [self._file.read(column, lo, hi) for column in self._columns]
        rows = found[0] if self._alone else np.stack(found, axis=1)
        if rows.shape[1:] != self.shape:
            raise config_refusal(
                "%s: rows have shape %s, the first one %s" % (self.place(lo), rows.shape[1:], self.shape)
            )
        return np.array(rows, dtype=self.dtype, order="C")

    def place(self, row: int) -> str:
        return "%s row %d" % (self._file.path, row)

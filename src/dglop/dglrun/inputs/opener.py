# SPDX-License-Identifier: Apache-2.0
"""Files opened as tables, whatever their format; of text all lines are counted at one go, in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from ..ending import config_refusal
from .csv_file import CsvFile, CsvTable
from .csv_lines import count_lines
from .numpy_table import NumpyTable
from .parquet_table import ParquetFile, ParquetTable

if TYPE_CHECKING:
    from .source import Alone
    from .tables import Table

__all__ = ("Columned", "Opener", "columns_table", "dtype_named", "ends_table")

Columned = Union[CsvFile, ParquetFile]


class Opener:
    """Opens each file once. No table of text knows its rows before `count`."""

    def __init__(self) -> None:
        self._csv: Dict[Tuple[str, Optional[str]], CsvFile] = {}
        self._parquet: Dict[str, ParquetFile] = {}

    def csv(self, path: str, delimiter: Optional[str] = None) -> CsvFile:
        """Raises Refusal (ConfigInvalid)."""
        if (path, delimiter) not in self._csv:
            self._csv[(path, delimiter)] = CsvFile(path, delimiter)
        return self._csv[(path, delimiter)]

    def parquet(self, path: str) -> ParquetFile:
        """Raises Refusal (ConfigInvalid)."""
        if path not in self._parquet:
            self._parquet[path] = ParquetFile(path)
        return self._parquet[path]

    def columned(self, path: str, delimiter: Optional[str] = None) -> Columned:
        """A file with several columns, by the end of its name. Raises Refusal (ConfigInvalid)."""
        return self.parquet(path) if path.endswith(".parquet") else self.csv(path, delimiter)

    def count(self, peers: Alone) -> None:
        """Let all files of text know where their lines are."""
        count_lines([file.lines for file in self._csv.values()], peers)

    def table(
        self, form: str, path: str, *, delimiter: Optional[str], dtype: Optional[Any], edges: bool
    ) -> Table:
        """All columns of a file of one purpose; `edges`: a column each for both ends. Raises Refusal."""
        if form == "numpy":
            return NumpyTable(path, edges=edges)
        if form not in ("csv", "parquet"):
            raise config_refusal("%s: there is no format %r, only csv, numpy and parquet" % (path, form))
        file: Columned = self.csv(path, delimiter) if form == "csv" else self.parquet(path)
        columns = list(range(file.columns if isinstance(file, CsvFile) else len(file.names)))
        return ends_table(file, columns) if edges else columns_table(file, columns, dtype)


def columns_table(file: Columned, columns: Sequence[int], dtype: Optional[Any] = None) -> Table:
    """Columns as one table; a single one has rows of no width."""
    flat = len(columns) == 1
    if not columns:
        raise config_refusal("%s is empty" % file.path)
    if isinstance(file, CsvFile):
        return CsvTable(file, columns, dtype, flat=flat)
    return ParquetTable(file, columns, dtype, flat=flat)


def ends_table(file: Columned, columns: Sequence[int]) -> Table:
    """Both ends of edges. What text holds there is taken for whole numbers, so that others are refused."""
    import numpy as np  # noqa: PLC0415

    return columns_table(file, columns, np.dtype("int64") if isinstance(file, CsvFile) else None)


def dtype_named(name: Optional[str], place: str) -> Optional[Any]:
    """The dtype that a description states. Raises Refusal (ConfigInvalid)."""
    import numpy as np  # noqa: PLC0415

    known: List[str] = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
    if name is not None and name not in known:
        raise config_refusal("%s: there is no dtype %r, only %s" % (place, name, ", ".join(known)))
    return None if name is None else np.dtype(name)

# SPDX-License-Identifier: Apache-2.0
"""Tables of numbers as text: what its columns are, and shares of it by ranges of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence, Tuple

from ..ending import config_refusal
from .csv_lines import Lines
from .csv_parse import guess_dtype, is_number, parse
from .tables import Table

if TYPE_CHECKING:
    from .source import Array

__all__ = ("CsvFile", "CsvTable")

_DELIMITERS = (",", "\t", ";", "|", " ")
_HEAD = 1 << 20  # no header and no first lines are longer
_GUESSED_LINES = 1000
_PIECE = 1 << 18  # lines in memory at once


class CsvFile:
    """A text file with a row in each line, with or without a header, and a delimiter of one character."""

    def __init__(self, path: str, delimiter: Optional[str] = None) -> None:
        """Raises Refusal (ConfigInvalid) for what is no such file."""
        self.path = path
        head = self._head()
        first = head[0] if head else ""
        self.delimiter: str = delimiter or next((each for each in _DELIMITERS if each in first), ",")
        if len(self.delimiter) != 1 or self.delimiter in "\"'\r\n.+-0123456789":
            raise config_refusal(
                "%s: the delimiter %r is not one character beside numbers" % (path, delimiter)
            )
        cells = [cell.strip().strip("\"'") for cell in first.split(self.delimiter)]
        named = bool(head) and not any(is_number(cell) for cell in cells)
        self.names: Optional[List[str]] = cells if named else None
        self.columns: int = len(cells) if head else 0
        self._samples = [line.split(self.delimiter) for line in head[named:]]
        begin = len(self._first_line()) if named else 0
        self._skipped = int(named)
        self.lines: Lines = Lines(path, begin)

    @property
    def rows(self) -> int:
        return self.lines.rows

    def place(self, row: int) -> str:
        return "%s line %d" % (self.path, row + 1 + self._skipped)

    def guess(self, column: int) -> Any:
        """The dtype that the first values of a column suggest: int64, bool or float32."""
        return guess_dtype([cells[column].strip() for cells in self._samples if column < len(cells)])

    def read(self, columns: Sequence[int], dtype: Any, lo: int, hi: int) -> Array:
        """Values of the rows lo to hi-1, a row for each."""
        import numpy as np  # noqa: PLC0415

        found = np.empty((max(0, hi - lo), len(columns)), dtype)
        for begin, end in _pieces(lo, hi):
            text = self.lines.read(begin, end)
            found[begin - lo : end - lo] = parse(self, text, columns, dtype, rows=(begin, end))
        return found

    def _first_line(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.readline()

    def _head(self) -> List[str]:
        try:
            with open(self.path, "rb") as file:
                text = file.read(_HEAD)
        except OSError as error:
            raise config_refusal("cannot read %s: %s" % (self.path, error.strerror or error)) from error
        if text.startswith(b"\xef\xbb\xbf"):
            raise config_refusal("%s begins with a byte order mark: save it as UTF-8 without one" % self.path)
        if b"\0" in text:
            raise config_refusal("%s is no text: say what it is with the dataset's format" % self.path)
        lines = text.decode("utf-8", "replace").splitlines()[: _GUESSED_LINES + 1]
        # the last one may be cut
        lines = lines if len(text) < _HEAD or len(lines) == 1 else lines[:-1]
        return [] if not text.strip() else lines


class CsvTable(Table):
    """Some columns of a file: one by itself, or several as the rows of an array."""

    def __init__(
        self, file: CsvFile, columns: Sequence[int], dtype: Optional[Any] = None, *, flat: bool = False
    ) -> None:
        """No dtype: it is guessed from the first lines. `flat`: one column, rows of no width."""
        import numpy as np  # noqa: PLC0415

        self._file, self._columns = file, list(columns)
        guesses = [file.guess(column) for column in columns] if dtype is None else [dtype]
        self.dtype: Any = np.result_type(*guesses) if len(set(guesses)) == 1 else np.dtype("float32")
        self.shape: Tuple[int, ...] = () if flat else (len(columns),)

    @property
    def rows(self) -> int:  # type: ignore[override]
        return self._file.rows

    def read(self, lo: int, hi: int) -> Array:
        found = self._file.read(self._columns, self.dtype, lo, hi)
        return found.reshape(len(found)) if self.shape == () else found

    def place(self, row: int) -> str:
        return self._file.place(row)


def _pieces(lo: int, hi: int) -> Iterator[Tuple[int, int]]:
    for begin in range(lo, hi, _PIECE):
        yield begin, min(begin + _PIECE, hi)

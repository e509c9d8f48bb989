# SPDX-License-Identifier: Apache-2.0
"""Text to numbers: all at once where it is right, line by line to say what is wrong where it is not."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any, List, Sequence, Tuple

from ..ending import config_refusal

if TYPE_CHECKING:
    from .csv_file import CsvFile
    from .source import Array

__all__ = ("TRUTHS", "guess_dtype", "is_number", "parse")

TRUTHS = {"true": 1, "false": 0, "1": 1, "0": 0}
_WORDS = (
    (b"True", b"1"),
    (b"true", b"1"),
    (b"TRUE", b"1"),
    (b"False", b"0"),
    (b"false", b"0"),
    (b"FALSE", b"0"),
)


def is_number(cell: str) -> bool:
    """Also a word of truth."""
    try:
        float(cell)
    except ValueError:
        return cell.lower() in TRUTHS
    return True


def guess_dtype(cells: Sequence[str]) -> Any:
    """int64, bool or float32: the narrowest that holds all of `cells`."""
    import numpy as np  # noqa: PLC0415

    if cells and all(cell.lower() in ("true", "false") for cell in cells):
        return np.dtype("bool")
    return np.dtype("int64" if all(_is_whole(cell) for cell in cells) else "float32")


def parse(file: CsvFile, text: bytes, columns: Sequence[int], dtype: Any, *, rows: Tuple[int, int]) -> Array:
    """The values of `columns` in `text`, which holds these rows of `file`. Raises Refusal (ConfigInvalid)."""
    import numpy as np  # noqa: PLC0415

    text = text.replace(b"\r", b"").rstrip(b"\n")
    count, trouble = rows[1] - rows[0], "not all lines hold %d numbers" % file.columns
    try:
        if b'"' not in text and _is_even(text, file.delimiter, file.columns, count):
            found = _parse(text, file.delimiter, columns, dtype)
            if len(found) == count:
                return found.astype(np.dtype(dtype))
    except (ValueError, DeprecationWarning) as error:
        trouble = str(error)
    _explain(file, text, columns, dtype, rows[0])
    raise config_refusal("%s and after: %s" % (file.place(rows[0]), trouble))


def _parse(text: bytes, delimiter: str, columns: Sequence[int], dtype: Any) -> Array:
    import numpy as np  # noqa: PLC0415

    read_as = dtype
    if dtype.kind == "b":
        read_as = np.dtype("int8")
        for word, digit in _WORDS:
            text = text.replace(word, digit)
    with warnings.catch_warnings():
        # a whole number that is written as a float, which loadtxt would round
        warnings.simplefilter("error")
        found = np.loadtxt(
            io.StringIO(text.decode("ascii", "replace")),
            dtype=read_as, delimiter=delimiter, usecols=tuple(columns), comments=None, ndmin=2,
        )  # fmt: skip
    if dtype.kind == "b" and ((found < 0) | (found > 1)).any():
        raise ValueError("a truth is true, false, 1 or 0")
    return found


def _is_even(text: bytes, delimiter: str, columns: int, rows: int) -> bool:
    """Whether each line has as many columns as the first line of the file."""
    import numpy as np  # noqa: PLC0415

    letters = np.frombuffer(text, np.uint8)
    ends: Array = np.append(np.flatnonzero(letters == 10), len(letters))
    marks = np.flatnonzero(letters == ord(delimiter))
    each = np.diff(np.searchsorted(marks, ends), prepend=0)
    return len(ends) == rows and bool((each == columns - 1).all())


def _explain(file: CsvFile, text: bytes, columns: Sequence[int], dtype: Any, first: int) -> None:
    """Raises Refusal for the first line that is wrong."""
    lines: List[str] = text.decode("utf-8", "replace").split("\n")
    for number, line in enumerate(lines):
        place = file.place(first + number)
        if not line.strip():
            raise config_refusal("%s is blank: a row for each line is needed" % place)
        if '"' in line:
            raise config_refusal(
                "%s: %s: quoted values are not read, write numbers without quotes" % (place, line[:80])
            )
        cells = line.split(file.delimiter)
        if len(cells) != file.columns:
            raise config_refusal(
                "%s has %d columns, the first line has %d (delimiter %r): %s"
                % (place, len(cells), file.columns, file.delimiter, line[:80])
            )
        for column in columns:
            if not _fits(cells[column].strip(), dtype):
                raise config_refusal(
                    "%s, column %s: %r is no %s"
                    % (place, _name(file, column), cells[column].strip()[:40], _word(dtype))
                )


def _fits(cell: str, dtype: Any) -> bool:
    if dtype.kind == "b":
        return cell.lower() in TRUTHS
    if dtype.kind in "iu":
        import numpy as np  # noqa: PLC0415

        return _is_whole(cell) and np.iinfo(dtype).min <= int(cell) <= np.iinfo(dtype).max
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _is_whole(cell: str) -> bool:
    sign = cell[:1] in ("+", "-")
    return cell[sign:].isascii() and cell[sign:].isdigit()


def _name(file: CsvFile, column: int) -> str:
    return str(column + 1) if file.names is None else file.names[column]


def _word(dtype: Any) -> str:
    return {"b": "truth (true, false, 1 or 0)", "f": "number"}.get(
        dtype.kind, "whole number of type %s" % dtype
    )

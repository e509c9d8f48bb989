# SPDX-License-Identifier: Apache-2.0
"""What holds for every source file."""

from __future__ import annotations

import ast
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_SPDX = "# SPDX-License-Identifier: Apache-2.0"
_LINES = 300
_FUNCTION_LINES = 40


def _sources() -> list[Path]:
    """The Python files of the tree; hidden folders and what builds leave are none of it."""
    tops = [each for each in _ROOT.iterdir() if each.is_dir() and each.name not in {"build", "dist"}]
    return [
        file
        for top in tops
        if not top.name.startswith(".")
        for file in top.rglob("*.py")
        if not any(part.startswith(".") for part in file.relative_to(_ROOT).parts)
    ]


def _names(files: list[Path]) -> list[str]:
    return sorted(str(file.relative_to(_ROOT)) for file in files)


def test_every_python_file_begins_with_its_licence() -> None:
    sources = _sources()
    assert len(sources) > 100
    assert _names([file for file in sources if not file.read_text().startswith(f"{_SPDX}\n")]) == []


def test_no_file_is_longer_than_a_reader_likes() -> None:
    long = [file for file in _sources() if len(file.read_text().splitlines()) > _LINES]
    assert _names(long) == []


def _functions(file: Path) -> list[tuple[str, int]]:
    """Every function of a file, and how many lines it has; decorators do not count."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [each for each in ast.walk(ast.parse(file.read_text())) if isinstance(each, kinds)]
    return [(each.name, (each.end_lineno or each.lineno) - each.lineno + 1) for each in found]


def test_no_function_is_longer_than_a_reader_likes() -> None:
    named = [(_names([file])[0], name, lines) for file in _sources() for name, lines in _functions(file)]
    assert len(named) > 1000
    assert [each for each in named if each[2] > _FUNCTION_LINES] == []

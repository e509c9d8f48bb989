# SPDX-License-Identifier: Apache-2.0
"""The table of features names what is there: each name is found, and so is each test."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import dglop
from dglop import Settings

_ROOT = Path(__file__).resolve().parents[2]
_NOT_HERE = "Not here"


class _Row(NamedTuple):
    feature: str
    names: str
    tests: str


def _rows() -> list[_Row]:
    lines = (_ROOT / "docs" / "features.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [_Row(*row) for row in cells if row[0] != "Feature" and set(row[0]) != {"-"}]


def _quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def _member(owner: Any, name: str) -> Any:
    """An attribute, or a field that only its annotation or its model knows."""
    if hasattr(owner, name):
        return getattr(owner, name)
    known = {**getattr(owner, "__annotations__", {}), **getattr(owner, "model_fields", {})}
    if name in known:
        return known[name]
    source = Path(import_module(owner.__module__).__file__ or "").read_text()
    if f"self.{name} = " in source or f"self.{name}: " in source:
        return name
    raise LookupError(f"{owner} has no {name}")


def _find(name: str) -> Any:
    steps = name.split(".")
    if steps[0] == "runtime":
        steps = ["dglop", *steps]
    found: Any = dglop
    for index, step in enumerate(steps[1:] if steps[0] == "dglop" else steps):
        path = ".".join(steps[: index + 2])
        try:
            found = _member(found, step) if isinstance(found, type) else getattr(found, step)
        except AttributeError:
            found = import_module(path)
    return found


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row.feature)
def test_what_a_row_names_can_be_used(row: _Row) -> None:
    names = [
        name for name in _quoted(row.names) if name[0].isupper() or name.startswith(("runtime.", "dglop."))
    ]
    for name in names:
        assert _find(name) is not None, name
    for flag in [name for name in _quoted(row.names) if name.startswith("--")]:
        assert flag[2:].replace("-", "_") in Settings.model_fields, flag


def test_every_row_has_a_test_or_says_why_there_is_none() -> None:
    tests = "".join(path.read_text() for path in (_ROOT / "test").rglob("test_*.py"))
    known = set(re.findall(r"def (test_\w+)", tests))
    named = {test for row in _rows() for test in _quoted(row.tests)}
    assert named - known == set()
    assert [row.feature for row in _rows() if not row.tests and not row.names.startswith(_NOT_HERE)] == []

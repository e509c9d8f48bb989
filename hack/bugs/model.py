# SPDX-License-Identifier: Apache-2.0
"""The list of bugs and of the changes that would bring them here."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("ROOT", "TESTS", "Bug", "Change", "Edit", "apply", "cases_of", "page", "read_bugs")

ROOT = Path(__file__).resolve().parents[2]
TESTS = Path("test/unit/runtime/bugs")
_TEST = re.compile(r"^(?:async )?def (test_bug_(\d\d)_\w+)", re.MULTILINE)
_PAGE = """# Bugs of others that we do not have

Clients and runtimes for Kubernetes have had these bugs. Each has at least one test of its number in
`test/unit/runtime/bugs`, and at least one change of our code that would bring it here. `make bugs` makes
each change in a copy of the sources and sees a test of that number fail: so each test is known to look at
what it says. The changes are in `hack/bugs/changes.toml`; this page is written by `make bugs`.

Of 15, 16 and 17 only wall time shows the symptom, and `make bench` prints it; their tests look at the
cause.
"""


@dataclass(frozen=True, slots=True)
class Edit:
    """In *file*, under src/dglop, *old* becomes *new*."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Change:
    """What is wrong with the code afterwards, and the edits that make it so."""

    says: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Bug:
    """A bug that others had."""

    number: int
    where: str
    what: str
    changes: tuple[Change, ...]


def read_bugs() -> list[Bug]:
    """All bugs, by number."""
    read = tomllib.loads((ROOT / "hack" / "bugs" / "changes.toml").read_text())
    return [
        Bug(
            number=each["number"],
            where=each["where"],
            what=each["what"],
            changes=tuple(
                Change(change["says"], tuple(Edit(*edit) for edit in change["edits"]))
                for change in each["change"]
            ),
        )
        for each in read["bug"]
    ]


def apply(change: Change, source: Path) -> None:
    """Make *change* in the tree at *source*. Raises ValueError where an edit no longer fits the code."""
    for edit in change.edits:
        path = source / edit.file
        text = path.read_text()
        if (count := text.count(edit.old)) != 1:
            raise ValueError(
                f"{edit.file} has the text {edit.old!r} {count} times, not once; mend hack/bugs/changes.toml"
            )
        path.write_text(text.replace(edit.old, edit.new))


def cases_of(number: int) -> list[tuple[str, str]]:
    """Files, below the tests' folder, and names of the tests of a number."""
    return [
        (path.name, name)
        for path in sorted((ROOT / TESTS).glob("test_*.py"))
        for name, found in _TEST.findall(path.read_text())
        if int(found) == number
    ]


def page(bugs: Sequence[Bug]) -> str:
    """The table for people."""
    lines = [_PAGE, "| # | Where | What | Tests | Seen failing when |", "|---|---|---|---|---|"]
    for bug in bugs:
        tests = "<br>".join(f"`{name}` ({file})" for file, name in cases_of(bug.number))
        changes = "<br>".join(change.says for change in bug.changes)
        lines.append(f"| {bug.number} | {bug.where} | {bug.what} | {tests} | {changes} |")
    return "\n".join(lines) + "\n"

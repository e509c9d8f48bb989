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

__all__ = (
    "BUGS",
    "ISSUES",
    "LISTS",
    "ROOT",
    "Bug",
    "BugList",
    "Change",
    "Edit",
    "apply",
    "cases_of",
    "page",
    "read_bugs",
)

ROOT = Path(__file__).resolve().parents[2]
_BUGS = """# Bugs of others that we do not have

Clients and runtimes for Kubernetes have had these bugs. Each has at least one test of its number in
`test/unit/runtime/bugs`, and at least one change of our code that would bring it here. `make bugs` makes
each change in a copy of the sources and sees a test of that number fail: so each test is known to look at
what it says. The changes are in `hack/bugs/changes.toml`; this page is written by `make bugs`.
[Another page](issues.md) has those of job controllers.

Of 15, 16 and 17 only time and memory show the symptom, and `make bench` prints them, or alone
`python -m hack.bench runtime --works symptoms`, in two minutes; their tests look at the cause.
"""
_ISSUES = """# Issues of other job controllers that we do not have

People have reported these of Kubeflow's job controllers and of their relatives. Each has at least one test of
its number in `test/unit/common/issues`, and at least one change of our code that would bring it here. `make
bugs` makes each change in a copy of the sources and sees a test of that number fail: so each test is known to
look at what it says. The changes are in `hack/bugs/issues.toml`; this page is written by `make bugs`.
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
    right: str = ""
    """What is right, where the symptom does not say it."""


@dataclass(frozen=True, slots=True)
class BugList:
    """
    A numbered list of bugs that others had.

    Attributes
    ----------
        word: tests of number 1 are named `test_<word>_01_...`.
        numbers: those that there are.
        changes: the file with the changes, below the repository.
        tests: the folder with the tests.
        page: the page with the table.
        intro: what the page says before the table.
    """

    word: str
    numbers: Sequence[int]
    changes: Path
    tests: Path
    page: Path
    intro: str


BUGS = BugList(
    "bug",
    range(1, 32),
    Path("hack/bugs/changes.toml"),
    Path("test/unit/runtime/bugs"),
    Path("docs/bugs.md"),
    _BUGS,
)
ISSUES = BugList(
    "issue",
    range(1, 36),
    Path("hack/bugs/issues.toml"),
    Path("test/unit/common/issues"),
    Path("docs/issues.md"),
    _ISSUES,
)
LISTS = {"bugs": BUGS, "issues": ISSUES}


def read_bugs(listed: BugList) -> list[Bug]:
    """All bugs of a list, by number."""
    read = tomllib.loads((ROOT / listed.changes).read_text())
    return [
        Bug(
            number=each["number"],
            where=each["where"],
            what=each["what"],
            right=each.get("right", ""),
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
                f"{edit.file} has the text {edit.old!r} {count} times, not once; mend the list of changes"
            )
        path.write_text(text.replace(edit.old, edit.new))


def cases_of(listed: BugList, number: int) -> list[tuple[str, str]]:
    """Files, below the tests' folder, and names of the tests of a number."""
    test = re.compile(rf"^(?:async )?def (test_{listed.word}_{number:02}_\w+)", re.MULTILINE)
    return [
        (path.name, name)
        for path in sorted((ROOT / listed.tests).glob("test_*.py"))
        for name in test.findall(path.read_text())
    ]


def page(listed: BugList, bugs: Sequence[Bug]) -> str:
    """The table for people."""
    has_right = any(bug.right for bug in bugs)
    heads = ["#", "Where", "What", *(["Right"] if has_right else []), "Tests", "Seen failing when"]
    lines = [listed.intro, f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for bug in bugs:
        tests = "<br>".join(f"`{name}` ({file})" for file, name in cases_of(listed, bug.number))
        changes = "<br>".join(change.says for change in bug.changes)
        right = [bug.right] if has_right else []
        lines.append(f"| {' | '.join([str(bug.number), bug.where, bug.what, *right, tests, changes])} |")
    return "\n".join(lines) + "\n"

# SPDX-License-Identifier: Apache-2.0
"""The list of bugs is whole, its changes fit the code as it is, and the page says what the list says."""

from __future__ import annotations

import pytest

from hack.bugs.model import ROOT, Bug, cases_of, page, read_bugs

BUGS = read_bugs()


def test_there_are_thirty_one() -> None:
    assert [bug.number for bug in BUGS] == list(range(1, 32))


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: f"{bug.number:02}")
def test_each_has_a_test_and_a_change_that_still_fits_the_code(bug: Bug) -> None:
    assert cases_of(bug.number)
    assert bug.changes
    for edit in (edit for change in bug.changes for edit in change.edits):
        text = (ROOT / "src" / "dglop" / edit.file).read_text()
        assert text.count(edit.old) == 1, f"{edit.file} has changed; mend hack/bugs/changes.toml: {edit.old}"


def test_the_page_is_what_the_list_says() -> None:
    assert (ROOT / "docs" / "bugs.md").read_text() == page(BUGS), "run: python -m hack.bugs --page"

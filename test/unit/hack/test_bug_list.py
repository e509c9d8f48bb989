# SPDX-License-Identifier: Apache-2.0
"""The lists of bugs are whole, their changes fit the code as it is, and the pages say what the lists say."""

from __future__ import annotations

import pytest

from hack.bugs.model import LISTS, ROOT, Bug, BugList, cases_of, page, read_bugs

BUGS = [(listed, bug) for listed in LISTS.values() for bug in read_bugs(listed)]


@pytest.mark.parametrize("listed", LISTS.values(), ids=LISTS)
def test_there_is_each_number(listed: BugList) -> None:
    assert [bug.number for bug in read_bugs(listed)] == list(listed.numbers)


@pytest.mark.parametrize(("listed", "bug"), BUGS, ids=lambda it: getattr(it, "number", None))
def test_each_has_a_test_and_a_change_that_still_fits_the_code(listed: BugList, bug: Bug) -> None:
    assert cases_of(listed, bug.number)
    assert bug.changes
    for edit in (edit for change in bug.changes for edit in change.edits):
        text = (ROOT / "src" / "dglop" / edit.file).read_text()
        assert text.count(edit.old) == 1, f"{edit.file} has changed; mend {listed.changes}: {edit.old}"


@pytest.mark.parametrize("listed", LISTS.values(), ids=LISTS)
def test_the_page_is_what_the_list_says(listed: BugList) -> None:
    said = page(listed, read_bugs(listed))
    assert (ROOT / listed.page).read_text() == said, "run: python -m hack.bugs --page"

# SPDX-License-Identifier: Apache-2.0
"""The page on what the base job controller does names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]


def test_each_line_of_the_page_has_a_test_that_is_there() -> None:
    page = (_ROOT / "docs" / "semantics.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "| Test |" not in line]
    assert len(rows) > 50
    assert [row for row in rows if not re.search(r"`test_\w+`", row)] == []
    text = "\n".join(file.read_text() for file in (_ROOT / "test").rglob("test_*.py"))
    known = set(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))
    assert set(re.findall(r"`(test_\w+)`", page)) - known == set()

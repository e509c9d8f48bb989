# SPDX-License-Identifier: Apache-2.0
"""Numbers of the bench: read from /proc, and told."""

from __future__ import annotations

import pytest

from hack.bench.figures import Usage, megabytes, parse_busy, parse_usage, ratio, seconds
from hack.bench.machine import memory_bytes, processor
from hack.bench.section import Section, table

_STAT = "4711 (a b) c) S 1 4711 4711 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 9 0 100 1 1"
_STATUS = "Name:\ta\nVmHWM:\t   2048 kB\nVmRSS:\t   1024 kB\nno colon here\n"


def test_usage_is_read_from_proc_whatever_the_command_is_called() -> None:
    assert parse_usage(_STAT, _STATUS, 100) == Usage(cpu_seconds=2.0, rss=1024 * 1024, peak_rss=2048 * 1024)


def test_the_machine_is_busy_with_all_but_waiting() -> None:
    assert parse_busy("cpu  100 20 30 4000 500 6 44 9 0 0\ncpu0 1 1 1 1 1 1 1\n", 100) == 2.0


@pytest.mark.parametrize(("value", "told"), [(1.234, "1.23 s"), (9.999, "10.00 s"), (68.12, "68.1 s")])
def test_seconds_have_as_many_digits_as_they_are_worth(value: float, told: str) -> None:
    assert seconds(value) == told


def test_a_ratio_says_how_often_theirs_is_in_ours() -> None:
    assert ratio(13.6, 68.1) == "0.20"


def test_memory_is_told_in_megabytes() -> None:
    assert megabytes(74_400_000) == "74 MB"


def test_the_machine_is_read_from_proc() -> None:
    assert memory_bytes("MemTotal:       24576 kB\nMemFree: 1 kB\n") == 24576 * 1024
    assert processor("processor : 0\nmodel name\t: A CPU @ 2: GHz\n") == "A CPU @ 2: GHz"
    assert processor("processor : 0\n") == ""


def test_a_table_keeps_its_columns_when_a_cell_has_a_bar() -> None:
    assert table(("a", "b"), [("x|y", "1")]).splitlines() == ["| a | b |", "| --- | --- |", "| x\\|y | 1 |"]


def test_a_section_without_notes_ends_with_its_table() -> None:
    assert Section("T", ("a",), [("1",)]).markdown() == "## T\n\n| a |\n| --- |\n| 1 |\n"

# SPDX-License-Identifier: Apache-2.0
"""The pure parts of the runtime's bench."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hack.bench.options import RUNTIME_SIDES, WORKS, parse
from hack.bench.runtime.marks import parse_mark
from hack.bench.runtime.measure import Run
from hack.bench.runtime.pods import ROUND, pod
from hack.bench.runtime.programs.changes import Changes
from hack.bench.runtime.programs.marks import mark
from hack.bench.runtime.programs.stalls import Stalls, percentile
from hack.bench.runtime.sides import SIDES, Programs, argv_of, sides_at
from hack.bench.runtime.symptoms import measure_symptoms
from hack.bench.runtime.tables import section_of

BY_NAME = {side.name: side for side in SIDES}


async def test_what_only_time_and_memory_show_of_known_bugs_is_printed() -> None:
    section = await measure_symptoms(clients=10, patches=20, pods=10)
    assert [row[0] for row in section.rows] == ["15", "16", "17"]
    assert re.fullmatch(r"[+-]\d+ threads, [+-]\d+ tasks, [+-]\d+ files", section.rows[0][3])
    assert section.rows[1][3].endswith("MB resident")
    assert section.rows[2][3].endswith("pods a second")


def test_what_a_program_marks_is_read_back(capsys) -> None:
    mark("synced", late_p99=0.25)
    found = parse_mark(capsys.readouterr().out)
    assert (found.what, found.figures) == ("synced", {"late_p99": 0.25})
    assert found.at > 0
    assert found.cpu > 0
    assert found.peak > 1_000_000


def test_a_line_that_is_no_mark_is_none() -> None:
    assert parse_mark("Started workers\n") is None
    assert parse_mark("{half a line") is None
    assert parse_mark(json.dumps({"event": "Synced cache"})) is None


def test_each_side_is_measured_at_what_it_can_do_in_the_order_of_the_tables() -> None:
    assert [side.name for side in sides_at("sync", RUNTIME_SIDES)] == [
        "dglop",
        "controller-runtime",
        "kopf",
        "aio",
        "plain",
    ]
    assert [side.name for side in sides_at("relist", RUNTIME_SIDES)] == ["dglop"]
    assert sides_at("noop", ["kopf", "aio"]) == []
    assert all(sides_at(work, RUNTIME_SIDES) for work in WORKS if work != "symptoms")


def test_a_side_is_started_by_its_own_program() -> None:
    programs = Programs(Path("/dglop/python"), Path("/cache/reference"), Path("/kopf/python"))
    assert argv_of(BY_NAME["controller-runtime"], programs, "restart") == ["/cache/reference", "--work=serve"]
    assert argv_of(BY_NAME["kopf"], programs, "events", "--round=2") == [
        "/kopf/python",
        "-m",
        "hack.bench.runtime.programs.with_kopf",
        "--work=events",
        "--round=2",
    ]
    assert argv_of(BY_NAME["kopf-indexed"], programs, "events")[-1] == "--work=indexed"
    own = ["/dglop/python", "-m", "hack.bench.runtime.programs.ours"]
    assert argv_of(BY_NAME["dglop"], programs, "sync")[:3] == own


def test_a_table_has_medians_and_ratios_and_says_who_was_stopped() -> None:
    found = {
        BY_NAME["dglop"]: [Run(wall, 0.5, 80e6, {"exec": 2.0}) for wall in (9.0, 1.0, 2.0)],
        BY_NAME["controller-runtime"]: [Run(4.0, 1.0, 160e6, {"exec": 4.5})],
        BY_NAME["kopf"]: None,
    }
    section = section_of("sync", 10_000, found, ("a note",))
    assert section.title == "10 000 pods to synced"
    assert section.rows[0] == ("dglop", "2.00 s", "0.50", "2.00 s", "0.50 s", "80 MB", "0.50")
    assert section.rows[1][2] == section.rows[1][6] == "1.00"
    assert section.rows[2][1] == "> 120 s"
    assert {len(row) for row in section.rows} == {len(section.header)}


def test_events_are_told_by_the_second_and_by_the_second_of_cpu() -> None:
    section = section_of("events", 1_000, {BY_NAME["kopf"]: [Run(2.0, 0.5, 1e6)]}, ())
    assert section.rows == [("kopf", "500", "2.00 s", "0.50 s", "2 000")]


@pytest.mark.parametrize("work", ["noop", "restart", "failover", "relist"])
def test_every_table_has_a_row_as_wide_as_its_head(work) -> None:
    figures = dict.fromkeys(("late_p99", "late_max", "busy_p99", "busy_max", "ticks"), 0.01)
    section = section_of(work, 10, {BY_NAME["dglop"]: [Run(1.0, 1.0, 1e6, figures)]}, ())
    assert len(section.rows[0]) == len(section.header)


def test_pods_are_always_the_same_and_differ_from_each_other() -> None:
    assert pod(7) == pod(7)
    assert pod(7)["metadata"]["name"] != pod(8)["metadata"]["name"]
    assert pod(7)["metadata"]["annotations"][ROUND] == "0"


def test_changes_are_counted_from_the_first_list_on_and_once_for_each_version(capsys) -> None:
    def seen(name: str, version: str) -> SimpleNamespace:
        metadata = SimpleNamespace(namespace="n", name=name, resource_version=version)
        return SimpleNamespace(metadata=metadata)

    pods: dict[tuple[str, str], Any] = {}
    changes = Changes(2)
    changes.see(pods, seen("a", "1"))
    changes.begin()
    for each in (seen("a", "2"), seen("a", "2"), seen("b", "3")):
        changes.see(pods, each)
    assert capsys.readouterr().out == ""
    changes.see(pods, seen("b", "4"))
    assert parse_mark(capsys.readouterr().out).what == "absorbed"


def test_a_percentile_is_what_that_share_does_not_exceed() -> None:
    assert percentile([float(each) for each in range(100)], 0.99) == 99.0
    assert percentile([1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([], 0.99) == 0.0


async def test_stalls_are_sampled_until_a_condition_holds() -> None:
    stalls = Stalls()
    watching = asyncio.create_task(stalls.watch())
    await stalls.until(lambda: len(stalls.late) > 2)
    watching.cancel()
    assert stalls.figures()["ticks"] > 2
    stalls.forget()
    assert stalls.figures()["late_max"] == 0.0


def test_the_runtime_has_options_of_its_own(capsys) -> None:
    found = parse(["runtime", "--pods", "1000", "--works", "noop,sync", "--beside", "kopf,dglop"])
    assert (found.benches, found.pods, found.runtime_repeat) == (("runtime",), (1000,), 5)
    assert (found.works, found.runtime_sides) == (("sync", "noop"), ("dglop", "kopf"))
    assert parse(["--repeat", "1"]).runtime_repeat == 1
    for wrong in (["--pods", "many"], ["--pods", "50000,10000"], ["--works", "sleep"], ["--beside", "me"]):
        with pytest.raises(SystemExit):
            parse(["runtime", *wrong])
    assert "there are sync, events" in capsys.readouterr().err

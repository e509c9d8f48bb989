# SPDX-License-Identifier: Apache-2.0
"""What the scale run makes of the statuses that it sees and of what the operator counts."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from hack.bench.explain import COUNTS, DONE, SEEN, UNCHANGED, StatusWrites, why
from hack.bench.options import parse
from hack.bench.samples import counted, refusals, requests_by_verb
from hack.bench.scaletables import PHASES, Ledger, quiet_section, writes_section

TOLD = """
rest_client_requests_total{code="201",host="h",method="POST"} 7.0
rest_client_requests_total{code="409",host="h",method="POST"} 1.0
rest_client_requests_total{code="<error>",host="h",method="POST"} 1.0
rest_client_requests_total{code="200",host="h",method="GET"} 2.0
workqueue_depth{name="dgljob",priority="0"} 3.0
workqueue_depth{name="other",priority="0"} 2.0
up 1.0
"""


def _status(phase: str = "Training", **worker: Any) -> dict[str, Any]:
    return {"phase": phase, "conditions": [], "replicaStatuses": {"Worker": worker}}


def _condition(type_: str, status: str = "True") -> dict[str, str]:
    return {"type": type_, "status": status, "reason": "R"}


def _worded(message: str, **worker: Any) -> dict[str, Any]:
    return {**_status(**worker), "conditions": [_condition("Running", "False") | {"message": message}]}


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({}, _status("Pending"), "phase Pending"),
        (_status(), {**_status(), "conditions": [_condition("Running")]}, "conditions Running"),
        (_status(), {**_status(), "conditions": [_condition("Running", "False")]}, "conditions not Running"),
        (_status(active=1), _status(active=2, createdIndexes="0-2"), SEEN),
        (_status(), _status(completedIndexes="0"), DONE),
        (_status(), _status(createdIndexes="0", completedIndexes="0"), f"{SEEN}, {DONE}"),
        (_status(active=1), _status(active=2), COUNTS),
        (_status() | {"dispatch": {"ready": 1}}, _status() | {"dispatch": {"ready": 2}}, COUNTS),
        (_status(), _status() | {"restartCount": 1}, "fields restartCount"),
        (_status(), _status(selector="a=b"), "fields selector"),
        (_worded("0 to 9", active=1), _worded("1 to 9", active=2), "words of Running"),
        (_status(), _status() | {"startTime": "now"}, "fields startTime"),
        (_status(active=1), _status(active=1), UNCHANGED),
    ],
)
def test_a_write_is_told_by_what_is_new_in_it(
    before: dict[str, Any], after: dict[str, Any], reason: str
) -> None:
    assert why(before, after) == reason


def _line(version: int, kind: str = "MODIFIED", **status: Any) -> bytes:
    metadata = {"uid": "u", "resourceVersion": str(version)}
    return json.dumps({"type": kind, "object": {"metadata": metadata, "status": status}}).encode()


def test_each_state_that_a_watch_shows_is_one_write_and_the_submission_is_none() -> None:
    seen = StatusWrites()
    seen.heard(_line(1, "ADDED"))
    seen.heard(_line(2, phase="Pending"))
    seen.heard(_line(3, phase="Pending", restartCount=1))
    seen.heard(_line(4, phase="Pending", restartCount=2))
    seen.heard(_line(4, "DELETED"))
    assert seen.reasons == {"phase Pending": 1, "fields restartCount": 2}
    assert seen.most["fields restartCount"] == 2
    assert seen.missed == 0


def test_a_watch_that_begins_anew_may_have_missed_writes_unless_nothing_was_written_meanwhile() -> None:
    seen = StatusWrites()
    seen.heard(_line(1, "ADDED"))
    seen.heard(_line(2, phase="Pending"))
    seen.heard(_line(2, "ADDED", phase="Pending"))
    assert seen.missed == 0
    seen.heard(_line(9, "ADDED", phase="Training"))
    assert seen.missed == 1


def test_what_a_program_counts_is_read_by_labels_and_by_what_was_answered() -> None:
    assert counted(TOLD, "workqueue_depth") == 5
    assert counted(TOLD, "workqueue_depth", name="other") == 2
    assert counted(TOLD, "up") == 1
    assert counted(TOLD, "absent") == 0
    assert requests_by_verb(TOLD) == {"POST": 9, "GET": 2}
    assert requests_by_verb(TOLD, below=400) == {"POST": 7, "GET": 2}
    assert refusals(TOLD) == {"POST 409": 1, "POST <error>": 1}


def test_refused_requests_are_told_by_verb_and_answer() -> None:
    text = writes_section(replace(_ledger(), refused=Counter({"PATCH 409": 2, "GET <error>": 1}))).markdown()
    assert "3 requests were refused, 1 of them GET <error>, 2 of them PATCH 409; the watch" in text


def _ledger() -> Ledger:
    status = Counter({f"phase {each}": 2 for each in PHASES} | {DONE: 6})
    events = Counter({f"DGLJob{each}": 2 for each in ("Created", "Running", "Succeeded")})
    created = {"secrets": 2, "services": 2, "pods": 20}
    sent = Counter({"POST": 30, "PATCH": 14, "GET": 9})
    return Ledger(2, 10, created, events, 0, status, Counter({DONE: 4}), sent)


def test_a_ledger_in_which_each_write_has_its_reason_leaves_none_without_one() -> None:
    assert _ledger().unexplained() == {"PATCH": 0, "POST": 0}
    text = writes_section(_ledger()).markdown()
    assert "| create pods | 10 | 20 | 10 | one a replica |" in text
    assert "| patch status: pods done | 3 | 6 | one a second of a job | at most 4 a job |" in text
    assert "| **all POST** | 15 | 30 |  | 0 without an explanation |" in text


def test_writes_that_nothing_explains_and_those_that_say_nothing_are_told() -> None:
    found = _ledger()
    status = found.status + Counter({UNCHANGED: 3})
    sent = found.sent + Counter({"PATCH": 3, "DELETE": 1})
    found = replace(found, status=status, sent=sent, created={**found.created, "pods": 21})
    assert found.unexplained() == {"DELETE": 1, "PATCH": 3, "POST": -1}
    text = writes_section(found).markdown()
    assert "| create pods | 10.50 | 21 | **10**: +1 in all |" in text
    assert "| patch status: nothing is new | 1.50 | 3 | **0**: +3 in all |" in text


def test_reads_are_no_writes_where_nothing_changes() -> None:
    text = quiet_section(5, {"a restart": (5, Counter({"GET": 9})), "more": (10, Counter({"PUT": 1}))})
    assert "| a restart | 5 | 0 | 0 |" in text.markdown()
    assert "| more | 10 | 1 | 0 |" in text.markdown()


def test_sizes_are_numbers_that_grow_and_the_scale_is_jobs_by_pods() -> None:
    assert parse([]).jobs == (200, 1000)
    assert parse(["--jobs=5,9", "--scale=30x10"]).jobs == (5, 9)
    assert parse(["--scale=30x10"]).scale == (30, 10)
    for wrong in ("--jobs=9,5", "--jobs=x", "--scale=30", "--scale=0x1", "--scale=1x2x3"):
        with pytest.raises(SystemExit):
            parse([wrong])

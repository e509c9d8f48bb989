# SPDX-License-Identifier: Apache-2.0
"""Counts, and which pods are done, are written now and then; what tells of another state at once."""

from __future__ import annotations

from typing import Any

import pytest

from dglop.common.pacing import StatusPace
from dglop.common.types import JobStatus, ReplicaStatus
from dglop.dgljob.enums import Phase
from dglop.dgljob.status import DGLJobStatus, DispatchStatus
from dglop.runtime.api import Condition


def status(**counts: Any) -> JobStatus:
    return JobStatus(attempt=1, replica_statuses={"Worker": ReplicaStatus(**counts)})


def test_a_change_of_counts_alone_waits_for_a_second_since_the_last_write() -> None:
    pace = StatusPace()
    before, after = status(pending=3, ready="0/3"), status(pending=2, active=1, ready="1/3", terminating=1)
    assert pace.wait("a", before, after, 10) == 0
    pace.wrote("a", 10)
    assert pace.wait("a", before, after, 10.25) == 0.75
    assert pace.wait("a", before, status(pending=1), 10.75) == 0.25
    assert pace.wait("a", before, after, 11) == 0


def test_the_counts_of_many_jobs_wait_for_each_other_and_each_has_its_turn() -> None:
    pace = StatusPace()
    before, after = status(pending=3), status(pending=2)
    for job in range(30):
        pace.wrote(f"job-{job}", 10)
    waits = [pace.wait(f"job-{job}", before, after, 10) for job in range(30)]
    assert waits == pytest.approx([max(1.0, job / 10) for job in range(30)])
    assert pace.wait("job-29", before, after, 12.5) == pytest.approx(0.4)  # its turn stays when others come
    for job in range(29):
        pace.wrote(f"job-{job}", 12)
    pace.forget("job-29")
    assert pace.wait("job-0", before, after, 13) == 0


def test_what_tells_of_another_state_is_written_at_once() -> None:
    pace = StatusPace()
    pace.wrote("a", 10)
    restarted = JobStatus(attempt=2, replica_statuses={"Worker": ReplicaStatus(pending=2)})
    assert pace.wait("a", status(pending=3), restarted, 10) == 0
    assert pace.wait("a", status(pending=3), reworded("", status="False"), 10) == 0


def reworded(message: str, **fields: Any) -> JobStatus:
    found = status(pending=3)
    found.conditions = [Condition(type="Running", reason="Waiting", message=message, **fields)]
    return found


def test_a_condition_in_other_words_is_no_other_state() -> None:
    pace = StatusPace()
    pace.wrote("a", 10)
    before, after = reworded("0 to 2", status="False"), reworded("1 to 2", status="False")
    assert pace.wait("a", before, after, 10.5) == 0.5
    assert pace.wait("a", before, reworded("all", status="True"), 10.5) == 0


@pytest.mark.parametrize("seen", [{"completed_indexes": "0", "succeeded": 1}, {"created_indexes": "0-2"}])
def test_which_pods_are_done_or_were_seen_is_written_a_second_after_it_is_seen(seen: dict[str, Any]) -> None:
    pace = StatusPace()
    before, after = status(pending=3), status(pending=2, **seen)
    assert pace.wait("a", before, after, 10) == 1
    assert pace.wait("a", before, status(pending=1, **seen), 10.75) == 0.25
    assert pace.wait("a", before, after, 11) == 0


def test_pods_that_are_done_wait_for_no_other_jobs_turn_nor_for_that_of_their_counts() -> None:
    pace = StatusPace()
    for job in range(30):
        pace.wait(f"job-{job}", status(pending=3), status(pending=2), 10)
    assert pace.wait("job-29", status(pending=3), status(pending=2), 10) == pytest.approx(2.9)
    assert pace.wait("job-29", status(pending=3), status(completed_indexes="0"), 10) == 1


def test_what_was_held_back_of_pods_is_recalled_until_it_is_written_or_its_attempt_is_over() -> None:
    pace = StatusPace()
    before, after = status(), status(completed_indexes="0,2", created_indexes="0-2")
    assert pace.recall("a", before) is before
    pace.wait("a", before, after, 10)
    others = {"Worker": status(completed_indexes="1").replica("Worker"), "Launcher": ReplicaStatus()}
    found = pace.recall("a", JobStatus(attempt=1, replica_statuses=others))
    assert found.replica("Worker") == ReplicaStatus(completed_indexes="0-2", created_indexes="0-2")
    assert pace.recall("b", before) is before
    assert pace.recall("a", JobStatus(attempt=2)) == JobStatus(attempt=2)
    assert pace.recall("a", JobStatus(attempt=1)) == after
    pace.wrote("a", 11)
    assert pace.recall("a", before) is before


def test_nothing_to_write_waits_for_nothing_and_gives_its_turn_back() -> None:
    pace = StatusPace()
    pace.wrote("a", 10)
    assert pace.wait("a", status(pending=3), status(pending=2), 10) == 1
    assert pace.wait("a", status(pending=3), status(pending=3), 10.5) == 0
    assert pace.wait("a", status(pending=3), status(pending=2), 11.5) == 0


def test_how_many_workers_have_their_part_is_a_count_and_a_phase_is_none() -> None:
    pace = StatusPace()
    pace.wrote("a", 10)
    before = DGLJobStatus(phase=Phase.DISPATCHING, dispatch=DispatchStatus(ready=0, total=3))
    counted = DGLJobStatus(phase=Phase.DISPATCHING, dispatch=DispatchStatus(ready=1, total=3))
    moved = DGLJobStatus(phase=Phase.TRAINING, dispatch=DispatchStatus(ready=3, total=3))
    assert pace.wait("a", before, counted, 10) == 1
    assert pace.wait("a", before, moved, 10) == 0

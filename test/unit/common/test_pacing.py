# SPDX-License-Identifier: Apache-2.0
"""A gang's counts are written now and then; all else at once."""

from __future__ import annotations

from typing import Any

import pytest

from dglop.common.pacing import CountsPace
from dglop.common.types import JobStatus, ReplicaStatus
from dglop.dgljob.enums import Phase
from dglop.dgljob.status import DGLJobStatus, DispatchStatus


def status(**counts: Any) -> JobStatus:
    return JobStatus(attempt=1, replica_statuses={"Worker": ReplicaStatus(**counts)})


def test_a_change_of_counts_alone_waits_for_a_second_since_the_last_write() -> None:
    pace = CountsPace()
    before, after = status(pending=3, ready="0/3"), status(pending=2, active=1, ready="1/3", terminating=1)
    assert pace.wait("a", before, after, 10) == 0
    pace.wrote("a", 10)
    assert pace.wait("a", before, after, 10.25) == 0.75
    assert pace.wait("a", before, status(pending=1), 10.75) == 0.25
    assert pace.wait("a", before, after, 11) == 0


def test_the_counts_of_many_jobs_wait_for_each_other_and_each_has_its_turn() -> None:
    pace = CountsPace()
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


@pytest.mark.parametrize(
    "after",
    [
        status(pending=2, completed_indexes="0", succeeded=1),
        status(pending=2, created_indexes="0-2"),
        JobStatus(attempt=2, replica_statuses={"Worker": ReplicaStatus(pending=2)}),
    ],
)
def test_what_a_later_decision_rests_on_is_written_at_once(after: JobStatus) -> None:
    pace = CountsPace()
    pace.wrote("a", 10)
    assert pace.wait("a", status(pending=3), after, 10) == 0


def test_nothing_to_write_waits_for_nothing_and_gives_its_turn_back() -> None:
    pace = CountsPace()
    pace.wrote("a", 10)
    assert pace.wait("a", status(pending=3), status(pending=2), 10) == 1
    assert pace.wait("a", status(pending=3), status(pending=3), 10.5) == 0
    assert pace.wait("a", status(pending=3), status(pending=2), 11.5) == 0


def test_how_many_workers_have_their_part_is_a_count_and_a_phase_is_none() -> None:
    pace = CountsPace()
    pace.wrote("a", 10)
    before = DGLJobStatus(phase=Phase.DISPATCHING, dispatch=DispatchStatus(ready=0, total=3))
    counted = DGLJobStatus(phase=Phase.DISPATCHING, dispatch=DispatchStatus(ready=1, total=3))
    moved = DGLJobStatus(phase=Phase.TRAINING, dispatch=DispatchStatus(ready=3, total=3))
    assert pace.wait("a", before, counted, 10) == 1
    assert pace.wait("a", before, moved, 10) == 0

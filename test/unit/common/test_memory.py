# SPDX-License-Identifier: Apache-2.0
"""A gang's counts are written once a second; all else at once."""

from __future__ import annotations

from typing import Any

import pytest

from dglop.common.memory import JobMemory
from dglop.common.types import JobStatus, ReplicaStatus
from dglop.dgljob.enums import Phase
from dglop.dgljob.status import DGLJobStatus, DispatchStatus


def status(**counts: Any) -> JobStatus:
    return JobStatus(attempt=1, replica_statuses={"Worker": ReplicaStatus(**counts)})


def test_a_change_of_counts_alone_waits_for_a_second_since_the_last_write() -> None:
    memory = JobMemory("uid")
    before, after = status(pending=3, ready="0/3"), status(pending=2, active=1, ready="1/3", terminating=1)
    assert memory.holds(before, after, 10) == 0
    memory.wrote(10)
    assert memory.holds(before, after, 10.25) == 0.75
    assert memory.holds(before, after, 11) == 0


@pytest.mark.parametrize(
    "after",
    [
        status(pending=2, completed_indexes="0", succeeded=1),
        status(pending=2, created_indexes="0-2"),
        JobStatus(attempt=2, replica_statuses={"Worker": ReplicaStatus(pending=2)}),
    ],
)
def test_what_a_later_decision_rests_on_is_written_at_once(after: JobStatus) -> None:
    memory = JobMemory("uid")
    memory.wrote(10)
    assert memory.holds(status(pending=3), after, 10) == 0


def test_nothing_to_write_waits_for_nothing() -> None:
    memory = JobMemory("uid")
    memory.wrote(10)
    assert memory.holds(status(pending=3), status(pending=3), 10) == 0


def test_how_many_workers_have_their_part_is_a_count_and_a_phase_is_none() -> None:
    memory = JobMemory("uid")
    memory.wrote(10)
    before = DGLJobStatus(phase=Phase.DISPATCHING, dispatch=DispatchStatus(ready=0, total=3))
    counted = DGLJobStatus(phase=Phase.DISPATCHING, dispatch=DispatchStatus(ready=1, total=3))
    moved = DGLJobStatus(phase=Phase.TRAINING, dispatch=DispatchStatus(ready=3, total=3))
    assert memory.holds(before, counted, 10) == 1
    assert memory.holds(before, moved, 10) == 0

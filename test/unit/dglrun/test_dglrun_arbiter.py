# SPDX-License-Identifier: Apache-2.0
"""The one verdict of an attempt."""

from __future__ import annotations

import pytest

from dglop.dglrun.arbiter import Arbiter
from dglop.dglrun.failure import DIED, LOST, STOPPED, Failure, ending_of

HEARD = {1: 100.0, 2: 100.0}


def died(index: int, code: int = 1, signal: int | None = None) -> Failure:
    return Failure(index, f"job-worker-{index}", DIED, "trainer-0", code, signal, lines=("why",))


def lost(index: int) -> Failure:
    return Failure(index, f"job-worker-{index}", LOST)


def arbiter() -> Arbiter:
    return Arbiter(3, grace=5.0, heartbeat=2.0)


def test_without_a_report_there_is_no_verdict_and_nothing_is_due() -> None:
    judge = arbiter()
    assert judge.judge(100.0, HEARD) is None
    assert judge.due() is None


def test_an_error_waits_for_word_of_an_earlier_failure_elsewhere() -> None:
    judge = arbiter()
    judge.report(died(0), 100.0)
    assert judge.judge(104.9, {1: 104.0, 2: 104.0}) is None
    assert judge.due() == 105.0
    assert judge.judge(105.0, {1: 104.0, 2: 104.0}) == died(0)


@pytest.mark.parametrize("cause", [lost(1), died(1, 137, 9), Failure(1, "job-worker-1", STOPPED)])
def test_what_no_peer_can_bring_about_is_the_cause_of_an_error_of_the_same_moment(cause: Failure) -> None:
    judge = arbiter()
    judge.report(died(0), 100.0)
    judge.report(cause, 100.4)
    assert judge.judge(100.4, HEARD) == cause


def test_a_later_loss_is_not_the_cause_of_an_earlier_error() -> None:
    judge = arbiter()
    judge.report(died(0), 100.0)
    judge.report(lost(1), 102.0)
    assert judge.judge(105.0, {2: 104.0}) == died(0)


def test_an_abort_may_be_a_consequence_and_waits() -> None:
    judge = arbiter()
    judge.report(died(0, 134, 6), 100.0)
    assert judge.judge(101.0, HEARD) is None


def test_when_all_have_failed_the_first_decides_without_waiting() -> None:
    judge = arbiter()
    for index, at in ((2, 100.2), (0, 100.0), (1, 100.1)):
        judge.report(died(index), at)
    assert judge.judge(100.3, {}) == died(0)


def test_an_overdue_peer_is_waited_for_as_it_may_be_the_cause() -> None:
    judge = arbiter()
    judge.report(died(0), 100.0)
    assert judge.judge(106.0, {1: 99.0, 2: 105.0}) is None
    judge.report(lost(1), 101.0)
    assert judge.judge(109.0, {2: 108.0}) == died(0) or judge.verdict == lost(1)


def test_the_moment_a_peer_fell_silent_counts_not_the_moment_it_was_noticed() -> None:
    judge = arbiter()
    judge.report(died(0), 103.0)
    judge.report(lost(1), 101.0)
    assert judge.judge(109.0, {2: 108.0}) == lost(1)


def test_a_verdict_is_given_once() -> None:
    judge = arbiter()
    judge.report(lost(1), 100.0)
    first = judge.judge(100.0, HEARD)
    judge.report(died(2, 137, 9), 99.0)
    assert judge.judge(101.0, HEARD) == first == lost(1)


def test_after_all_are_done_nothing_is_a_failure_any_more() -> None:
    judge = arbiter()
    for index in range(3):
        judge.done(index)
    judge.report(lost(1), 100.0)
    assert judge.all_done
    assert judge.judge(106.0, HEARD) is None


def test_a_failure_survives_the_way_to_a_peer() -> None:
    assert Failure.from_json(died(1, 137, 9).to_json()) == died(1, 137, 9)


def test_only_whose_process_died_first_says_self() -> None:
    assert ending_of(died(1, 137, 9), 1).message["cause"] == "self"
    assert ending_of(died(1, 137, 9), 0).message["cause"] == "peer"
    # a Worker whose connection was cut had no failure of its own
    assert ending_of(lost(1), 1).message["cause"] == "peer"

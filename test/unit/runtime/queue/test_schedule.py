# SPDX-License-Identifier: Apache-2.0
"""The queue's decisions against a model, and its order by example."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dglop.runtime.queue import Schedule
from test.properties import SECONDS, thousand

KEYS = st.sampled_from("abcdef")


def drain(schedule: Schedule[str], now: float) -> list[str]:
    keys = []
    while (item := schedule.pop(now)) is not None:
        keys.append(item.key)
        schedule.done(item.key)
    return keys


def test_higher_priorities_come_first_and_equal_ones_in_order_of_arrival():
    schedule = Schedule[str]()
    for key, priority in (("low", -100), ("first", 0), ("second", 0), ("high", 7)):
        schedule.add(key, 0.0, priority=priority)
    assert drain(schedule, 0.0) == ["high", "first", "second", "low"]


def test_a_key_added_twice_is_handed_out_once():
    schedule = Schedule[str]()
    schedule.add("a", 0.0)
    schedule.add("a", 0.0)
    assert drain(schedule, 0.0) == ["a"]


def test_a_key_added_while_processed_is_held_back_until_done():
    schedule = Schedule[str]()
    schedule.add("a", 0.0)
    assert schedule.pop(0.0).key == "a"
    schedule.add("a", 1.0)
    assert (len(schedule), schedule.available, schedule.pop(1.0)) == (1, 0, None)
    assert schedule.done("a") == 0.0
    assert schedule.pop(1.0).key == "a"


def test_a_raised_key_goes_to_the_end_of_its_new_priority():
    schedule = Schedule[str]()
    schedule.add("a", 0.0)
    schedule.add("b", 0.0, priority=5)
    schedule.add("a", 0.0, priority=5)
    assert drain(schedule, 0.0) == ["b", "a"]


def test_a_later_addition_never_lowers_the_priority():
    schedule = Schedule[str]()
    schedule.add("a", 0.0, priority=5)
    schedule.add("a", 0.0, priority=-100)
    assert schedule.pop(0.0).priority == 5


def test_the_earlier_of_two_delays_holds():
    schedule = Schedule[str]()
    schedule.add("a", 0.0, after=10.0)
    schedule.add("a", 0.0, after=5.0)
    schedule.add("a", 0.0, after=20.0)
    assert schedule.next_ready_at() == 5.0
    assert schedule.advance(4.9) == []
    assert [item.key for item in schedule.advance(5.0)] == ["a"]
    assert schedule.next_ready_at() is None


def test_a_key_whose_delay_ends_while_it_is_processed_is_held_back():
    schedule = Schedule[str]()
    schedule.add("a", 0.0)
    schedule.pop(0.0)
    schedule.add("a", 0.0, after=1.0)
    schedule.advance(1.0)
    assert schedule.pop(1.0) is None
    schedule.done("a")
    assert schedule.pop(1.0).key == "a"


def test_low_priority_is_served_within_a_bound_under_more_load_than_the_worker_can_take():
    """Regression of controller-runtime #3496."""
    schedule = Schedule[str](overdue_after=60.0, overdue_share=4)
    low = [f"low-{n}" for n in range(20)]
    for key in low:
        schedule.add(key, 0.0, priority=-100)
    served: dict[str, int] = {}
    for second in range(400):
        schedule.add(f"load-{second}-a", float(second))
        schedule.add(f"load-{second}-b", float(second))
        item = schedule.pop(float(second))
        served.setdefault(item.key, second)
        schedule.done(item.key)
    assert all(served[key] <= 60 + 4 * len(low) for key in low)


def test_other_work_keeps_three_quarters_of_the_turns_while_low_priority_is_overdue():
    schedule = Schedule[str](overdue_after=60.0, overdue_share=4)
    for n in range(1000):
        schedule.add(f"low-{n}", 0.0, priority=-100)
    for n in range(300):
        schedule.add(f"new-{n}", 100.0)
    order = drain(schedule, 100.0)
    assert sum(key.startswith("new-") for key in order[:400]) == 300


def test_done_of_a_key_that_nobody_has_is_an_error():
    with pytest.raises(KeyError):
        Schedule[str]().done("a")


def test_delays_called_off_by_earlier_work_take_no_memory():
    schedule = Schedule[str]()
    for n in range(10_000):
        schedule.add("a", float(n), after=3600.0)
        schedule.add("a", float(n))
        schedule.pop(float(n))
        schedule.done("a")
    assert len(schedule._waiting) < 100
    assert len(schedule._by_age) < 100


class ScheduleModel(RuleBasedStateMachine):
    """No key is lost, none is early, none is with two workers, and the order is right."""

    def __init__(self):
        super().__init__()
        self.schedule = Schedule[str](overdue_after=1e9)
        self.now = 0.0
        self.wanted: dict[str, tuple[float, int]] = {}  # key -> (earliest time, priority)
        self.processing: set[str] = set()

    @rule(key=KEYS, after=st.sampled_from([0.0, 0.0, 1.0, 5.0]), priority=st.sampled_from([None, -100, 0, 3]))
    def add(self, key, after, priority):
        self.schedule.add(key, self.now, after=after, priority=priority)
        at, old = self.wanted.get(key, (float("inf"), None))
        new = max(p for p in (priority, old) if p is not None) if (priority, old) != (None, None) else 0
        self.wanted[key] = (min(at, self.now + after), new)

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0]))
    def pass_time(self, seconds):
        self.now += seconds
        self.schedule.advance(self.now)

    @rule()
    def pop(self):
        item = self.schedule.pop(self.now)
        ready = {k: p for k, (at, p) in self.wanted.items() if at <= self.now and k not in self.processing}
        if item is None:
            assert not ready
            return
        assert item.key in ready
        assert item.priority == ready[item.key] == max(ready.values())
        del self.wanted[item.key]
        self.processing.add(item.key)

    @precondition(lambda self: self.processing)
    @rule(data=st.data())
    def done(self, data):
        key = data.draw(st.sampled_from(sorted(self.processing)))
        self.schedule.done(key)
        self.processing.remove(key)

    @invariant()
    def counts_agree(self):
        ready = [k for k, (at, _) in self.wanted.items() if at <= self.now]
        assert len(self.schedule) == len(ready) == sum(self.schedule.depth.values())
        assert self.schedule.available == len([k for k in ready if k not in self.processing])
        assert self.schedule.waiting == len(self.wanted) - len(ready)
        assert set(self.schedule.processing) == self.processing
        later = [at for at, _ in self.wanted.values() if at > self.now]
        assert self.schedule.next_ready_at() == (min(later) if later else None)


TestScheduleModel = pytest.mark.timeout(SECONDS)(ScheduleModel.TestCase)
TestScheduleModel.settings = thousand(steps=20)

# SPDX-License-Identifier: Apache-2.0
"""The work queue with its workers as a state machine: nothing is lost, doubled or left waiting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dglop.runtime.queue import WorkQueue
from dglop.testing.clock import ManualClock
from test.properties import SECONDS, thousand

KEYS = st.sampled_from(["a", "b", "c", "d"])


class WorkQueueModel(RuleBasedStateMachine):
    """The model: when each wanted key is due, who works on what, and how many wait for work."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock = ManualClock()
        self.queue = WorkQueue[str](self.clock)
        self.wanted: dict[str, float] = {}
        self.processing: set[str] = set()
        self.getters: list[asyncio.Task[Any]] = []
        self.idlers: list[asyncio.Task[Any]] = []
        self.is_closed = False

    def settle(self):
        """Let all tasks run, and take what they were handed into the model."""

        async def turns():
            for _ in range(4):
                await asyncio.sleep(0)

        self.loop.run_until_complete(turns())
        for getter in [each for each in self.getters if each.done()]:
            self.getters.remove(getter)
            if getter.cancelled():
                continue
            item = getter.result()
            if item is None:
                assert self.is_closed
                continue
            assert item.key not in self.processing, "a key is with two workers"
            assert self.wanted.pop(item.key) <= self.clock.monotonic(), "a key came before its time"
            self.processing.add(item.key)

    def ready(self) -> set[str]:
        now = self.clock.monotonic()
        return {key for key, at in self.wanted.items() if at <= now and key not in self.processing}

    @rule(key=KEYS, after=st.sampled_from([0.0, 0.0, 1.0, 5.0]), priority=st.sampled_from([None, -100, 3]))
    def add(self, key, after, priority):
        self.queue.add(key, after=after, priority=priority)
        if not self.is_closed:
            at = self.clock.monotonic() + after
            self.wanted[key] = min(self.wanted.get(key, at), at)
        self.settle()

    @rule()
    def get(self):
        self.getters.append(self.loop.create_task(self.queue.get()))
        self.settle()

    @rule(adds=st.booleans(), key=KEYS)
    def cancel_a_getter(self, adds, key):
        """Perhaps in the very moment in which it is woken."""
        if adds and not self.is_closed:
            self.queue.add(key)
            self.wanted[key] = self.clock.monotonic()
        if self.getters:
            self.getters[0].cancel()
        self.settle()

    @precondition(lambda self: self.processing)
    @rule(data=st.data())
    def done(self, data):
        key = data.draw(st.sampled_from(sorted(self.processing)))
        self.processing.remove(key)
        self.queue.done(key)
        self.settle()

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0]))
    def pass_time(self, seconds):
        self.clock.move(seconds)
        self.settle()

    @rule()
    def wait_idle(self):
        self.idlers.append(self.loop.create_task(self.queue.wait_idle()))
        self.settle()

    @precondition(lambda self: len(self.wanted) > 1)
    @rule()
    def close(self):
        self.is_closed = True
        self.queue.close()
        self.settle()

    @invariant()
    def nobody_waits_for_what_is_there(self):
        if self.is_closed:
            assert not self.getters, "a getter still waits for a closed queue"
            assert all(each.done() for each in self.idlers)
            return
        assert not (self.getters and self.ready()), "a getter waits though there is work"
        now = self.clock.monotonic()
        assert self.queue.waiting == sum(at > now for at in self.wanted.values())
        assert self.queue.processing == len(self.processing)
        is_idle = not self.processing and not self.ready()
        assert self.queue.is_idle is is_idle
        assert not (is_idle and any(not each.done() for each in self.idlers))

    def teardown(self):
        self.is_closed = True
        try:
            self.queue.close()
            self.settle()
            assert not self.getters
            assert all(each.done() for each in self.idlers)
        finally:
            self.loop.close()


TestWorkQueueModel = pytest.mark.timeout(SECONDS)(WorkQueueModel.TestCase)
TestWorkQueueModel.settings = thousand(steps=20)

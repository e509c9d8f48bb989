# SPDX-License-Identifier: Apache-2.0
"""Leader election as a state machine: three candidates, one lease, and all that can go wrong between them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from dglop.testing.clock import ManualClock
from test.properties import SECONDS, thousand
from test.unit.runtime.lease_store import TIMES, MemoryStore, candidate

if TYPE_CHECKING:
    from dglop.runtime.election import Election

NAMES = st.sampled_from(["a", "b", "c"])


class Line(MemoryStore):
    """One candidate's connection to the store that all share."""

    def __init__(self, shared: MemoryStore) -> None:
        super().__init__()
        self.shared = shared

    async def read(self):
        await self._answer("read")
        return await self.shared.read()

    async def create(self, record):
        await self._answer("create")
        return await self.shared.create(record)

    async def update(self, record, version):
        await self._answer("update")
        return await self.shared.update(record, version)


class ElectionModel(RuleBasedStateMachine):
    """The model: who may lead until when, by what was written to the store."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock = ManualClock()
        self.store = MemoryStore()
        self.lines: dict[str, Line] = {}
        self.elections: dict[str, Election] = {}
        self.tasks: dict[str, asyncio.Task[Any]] = {}
        for name in "abc":
            self.lines[name] = Line(self.store)
            self.begin(name)
        self.advance(0.0)

    def begin(self, name):
        election = candidate(self.lines[name], self.clock, name)

        async def stand():
            while True:
                await election.acquire()
                await election.keep()

        self.elections[name] = election
        self.tasks[name] = self.loop.create_task(stand())

    def end(self, name):
        self.tasks[name].cancel()
        self.loop.run_until_complete(asyncio.gather(self.tasks[name], return_exceptions=True))

    def advance(self, seconds):
        self.loop.run_until_complete(self.clock.advance(seconds))

    def valid(self) -> list[str]:
        now = self.clock.monotonic()
        held = {name: each.valid_until() for name, each in self.elections.items()}
        return [name for name, until in held.items() if until is not None and now < until]

    @rule(seconds=st.sampled_from([0.5, 2.0, 5.0, 12.0]))
    def pass_time(self, seconds):
        self.advance(seconds)

    @rule(name=NAMES, trouble=st.sampled_from(["is_down", "hangs", ""]))
    def connection(self, name, trouble):
        line = self.lines[name]
        line.is_down, line.hangs = trouble == "is_down", trouble == "hangs"

    @rule(trouble=st.sampled_from(["is_down", "hangs", ""]))
    def server(self, trouble):
        self.store.is_down, self.store.hangs = trouble == "is_down", trouble == "hangs"

    @rule()
    def a_stranger_touches_the_lease(self):
        if self.store.record is not None:
            self.store.put(replace(self.store.record, renewed="touched"))

    @rule(name=NAMES)
    def crash_and_begin_again(self, name):
        self.end(name)
        self.elections.pop(name)
        self.begin(name)

    @rule(name=NAMES)
    def stop_in_order_and_begin_again(self, name):
        self.end(name)
        releasing = self.loop.create_task(self.elections.pop(name).release())
        self.advance(5.0)
        assert releasing.done(), "giving back does not end"
        if releasing.result():
            assert self.store.record.holder != name
        self.begin(name)

    @invariant()
    def never_two_lead(self):
        assert len(self.valid()) <= 1

    @invariant()
    def who_leads_holds_the_lease(self):
        for name in self.valid():
            record = self.store.record
            assert record is not None
            assert record.holder == name
            assert record.duration == TIMES.duration

    def teardown(self):
        self.store.is_down = self.store.hangs = False
        for line in self.lines.values():
            line.is_down = line.hangs = False
        try:
            latest = self.clock.monotonic() + TIMES.duration + TIMES.renew_deadline + 2 * TIMES.retry_period
            while not self.valid():
                assert self.clock.monotonic() < latest, "all is well again, and nobody leads"
                self.advance(TIMES.retry_period)
        finally:
            for name in self.tasks:
                self.end(name)
            self.loop.close()


TestElectionModel = pytest.mark.timeout(SECONDS)(ElectionModel.TestCase)
TestElectionModel.settings = thousand(steps=10)

# SPDX-License-Identifier: Apache-2.0
"""A lease in memory that can fail, and candidates for it whose tries have no jitter."""

from __future__ import annotations

import asyncio

from dglop.errors import AlreadyExistsError, ApiConnectionError, ConflictError
from dglop.runtime.election import Election, LeaseRecord, LeaseTimes

__all__ = ("TIMES", "MemoryStore", "candidate")

TIMES = LeaseTimes(duration=15, renew_deadline=10, retry_period=2)


class MemoryStore:
    """One record with optimistic locking; it can be cut off, or made to hang."""

    def __init__(self) -> None:
        self.record: LeaseRecord | None = None
        self.version = 0
        self.calls: list[str] = []
        self.is_down = False
        self.hangs = False

    async def read(self):
        await self._answer("read")
        return (self.record, str(self.version)) if self.record else None

    async def create(self, record):
        await self._answer("create")
        if self.record:
            raise AlreadyExistsError(409, "AlreadyExists", "the lease exists")
        return self.put(record)

    async def update(self, record, version):
        await self._answer("update")
        if version != str(self.version):
            raise ConflictError(409, "Conflict", "the lease changed")
        return self.put(record)

    def put(self, record):
        self.record = record
        self.version += 1
        return str(self.version)

    async def _answer(self, call):
        self.calls.append(call)
        if self.hangs:
            await asyncio.Event().wait()
        if self.is_down:
            raise ApiConnectionError("connection refused", sent=False)


def candidate(store, clock, identity="a", times=TIMES, log=None) -> Election:
    return Election(store, identity, times, clock=clock, random=lambda: 0.0, log=log)

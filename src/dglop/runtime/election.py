# SPDX-License-Identifier: Apache-2.0
"""Who leads: the rules of a lease, over any store of one record and any clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Protocol

from dglop.errors import AlreadyExistsError, ApiError, ConflictError, ForbiddenError
from dglop.runtime.api import format_micro_time
from dglop.runtime.clock import within

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log
    from dglop.runtime.metricparts import LeaderMetrics

__all__ = ("Election", "LeaseRecord", "LeaseStore", "LeaseTimes", "Loss")

JITTER = 1.2
MAX_INT = 2**31 - 1  # the lease's numbers are an int32
RELEASE_SECONDS = 5.0

_FORBIDDEN = "give the right to the lease, or name a namespace that has it: --leader-election-namespace"


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """A lease as it is written; times are kept as text, since only their changing matters to others."""

    holder: str
    duration: int
    acquired: str
    renewed: str
    transitions: int = 0


class LeaseStore(Protocol):
    """One record with a version; every method may raise ApiError."""

    async def read(self) -> tuple[LeaseRecord, str] | None:
        """The record and its version; None if there is none."""
        ...

    async def create(self, record: LeaseRecord) -> str:
        """Write the first record. Raises AlreadyExistsError if somebody else did."""
        ...

    async def update(self, record: LeaseRecord, version: str) -> str:
        """Replace the record that has *version*. Raises ConflictError if it is another by now."""
        ...


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """Seconds: how long a lease holds, how long renewing may fail, and between two tries."""

    duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a leadership ended, and the monotonic second from which somebody else may lead."""

    reason: str
    valid_until: float


class Election:
    """
    One candidate.

    Guarantees: no two candidates lead at once as long as their clocks run at about the same speed; what the
    clocks show does not matter, because a candidate counts from the moment at which it saw the record change,
    by its own monotonic clock, for as long as the record says. A leader counts from before it sent its last
    successful renewal, and gives up `duration - renew_deadline` seconds before anyone may take over.
    """

    def __init__(
        self,
        store: LeaseStore,
        identity: str,
        times: LeaseTimes,
        *,
        clock: Clock,
        random: Callable[[], float],
        metrics: LeaderMetrics | None = None,
        log: Log = None,
    ) -> None:
        self._store = store
        self._identity = identity
        self._times = times
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._log = log
        self._observed: LeaseRecord | None = None
        self._observed_at = 0.0
        self._version = ""
        self._renewed_at: float | None = None
        self._last_trouble = ""

    @property
    def holder(self) -> str:
        """Who held the lease when it was last seen; empty if nobody."""
        return self._observed.holder if self._observed else ""

    @property
    def renewed_at(self) -> float | None:
        """Monotonic seconds from which the present leadership counts; None while not leading."""
        return self._renewed_at

    def valid_until(self) -> float | None:
        """Monotonic seconds until which nobody else can lead; None while not leading."""
        return None if self._renewed_at is None else self._renewed_at + self._times.duration

    async def acquire(self) -> None:
        """Return when this candidate leads."""
        while not await self._attempt(self._times.renew_deadline):
            await self._clock.sleep(self._times.retry_period * (1.0 + JITTER * self._random()))

    async def keep(self) -> Loss:
        """Renew for as long as it works; return how the leadership ended."""
        while self._renewed_at is not None:
            await self._clock.sleep(self._times.retry_period)
            loss = await self._renew(self._renewed_at)
            if loss is not None:
                return loss
        return self._lose("never led", self._clock.monotonic())

    async def release(self) -> bool:
        """
        Free the lease for others at once, if it is still this candidate's; only after all work has ended.

        Takes a few seconds at most and raises nothing: whoever waits gets the lease later otherwise.
        """
        self._lose("released", 0.0)
        try:
            return await within(self._clock, RELEASE_SECONDS, self._release())
        except (ApiError, TimeoutError, OSError) as error:
            self._report(error)
            return False

    async def _release(self) -> bool:
        while (found := await self._store.read()) is not None:
            record, version = found
            if record.holder != self._identity:
                return False
            free = replace(record, holder="", duration=1, renewed=format_micro_time(self._clock.now()))
            try:
                await self._store.update(free, version)
            except ConflictError:
                continue
            return True
        return False

    async def _renew(self, renewed_at: float) -> Loss | None:
        give_up_at = renewed_at + self._times.renew_deadline
        while (left := give_up_at - self._clock.monotonic()) > 0:
            # Half of the deadline, so that one hung request leaves time for another on a new connection.
            if await self._attempt(min(self._times.renew_deadline / 2, left)):
                return None
            if self.holder not in (self._identity, ""):
                return self._lose(f"{self.holder} holds the lease", renewed_at)
            left = give_up_at - self._clock.monotonic()
            await self._clock.sleep(min(self._times.retry_period, max(left, 0.0)))
        why = f"the lease was not renewed for {self._times.renew_deadline:g} s"
        return self._lose(f"{why}: {self._last_trouble}" if self._last_trouble else why, renewed_at)

    async def _attempt(self, seconds: float) -> bool:
        try:
            return await within(self._clock, seconds, self._try())
        except (ApiError, TimeoutError, OSError) as error:
            self._report(error)
            return False

    async def _try(self) -> bool:
        if self._renewed_at is not None and self._observed is not None:
            try:
                await self._write(self._own_record(self._observed), self._version)
            except ConflictError:
                if self._metrics:
                    self._metrics.slow_path()
            else:
                return True
        found = await self._store.read()
        if found is None:
            return await self._create()
        self._observe(*found)
        record, version = found
        if record.holder not in ("", self._identity) and not self._is_expired(record):
            return False
        try:
            await self._write(self._own_record(record), version)
        except ConflictError:
            return False
        return True

    async def _create(self) -> bool:
        now = format_micro_time(self._clock.now())
        sent_at = self._clock.monotonic()
        record = LeaseRecord(self._identity, ceil(self._times.duration), now, now)
        try:
            self._version = await self._store.create(record)
        except AlreadyExistsError:
            return False
        self._won(record, sent_at)
        return True

    async def _write(self, record: LeaseRecord, version: str) -> None:
        sent_at = self._clock.monotonic()
        self._version = await self._store.update(record, version)
        self._won(record, sent_at)

    def _own_record(self, present: LeaseRecord) -> LeaseRecord:
        now = format_micro_time(self._clock.now())
        duration = ceil(self._times.duration)
        if present.holder == self._identity:
            return replace(present, duration=duration, renewed=now)
        return LeaseRecord(self._identity, duration, now, now, _next(present.transitions))

    def _observe(self, record: LeaseRecord, version: str) -> None:
        self._version = version
        if record != self._observed:
            self._observed = record
            self._observed_at = self._clock.monotonic()

    def _is_expired(self, record: LeaseRecord) -> bool:
        return self._clock.monotonic() >= self._observed_at + record.duration

    def _won(self, record: LeaseRecord, sent_at: float) -> None:
        self._observed, self._observed_at = record, sent_at
        self._renewed_at = sent_at
        self._last_trouble = ""
        if self._metrics:
            self._metrics.leading(True)

    def _lose(self, reason: str, renewed_at: float) -> Loss:
        self._renewed_at = None
        if self._metrics:
            self._metrics.leading(False)
        return Loss(reason, renewed_at + self._times.duration)

    def _report(self, error: BaseException) -> None:
        trouble = _short(str(error) or type(error).__name__)
        # The same trouble every two seconds is one message.
        if self._log and trouble != self._last_trouble:
            hint = {"hint": _FORBIDDEN} if isinstance(error, ForbiddenError) else {}
            self._log.warning("Could not use the lease", error=trouble, **hint)
        self._last_trouble = trouble


def _next(transitions: int) -> int:
    # A lease that is full would be refused for ever, and nobody would lead.
    return transitions + 1 if 0 <= transitions < MAX_INT else 0


def _short(text: str, end: int = 200) -> str:
    """Of a long text its beginning and its end: a refusal has the whole lease between them."""
    return text if len(text) <= 2 * end else f"{text[:end]} … {text[-end:]}"

# SPDX-License-Identifier: Apache-2.0
"""The progress server: the pods of jobs post how far they are, any replica of the operator writes it down."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

import msgspec

from dglop.dgljob.report import BadReportError, Report, Shown, is_outdated, parse_report
from dglop.dgljob.throttle import Throttle
from dglop.errors import ApiError, DglopError, NotFoundError
from dglop.runtime.serving import HttpResponse, Route

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.dgljob.tokens import TokenSource
    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log
    from dglop.runtime.serving import HttpRequest

__all__ = ("PATH", "JobRef", "ProgressServer", "ProgressStore")

PATH = "/v1/namespaces/{namespace}/dgljobs/{name}/progress"
WINDOW = timedelta(seconds=10)
MAX_BODY = 16 * 1024
_TOO_LATE = "the job has a later report, or a later attempt, than this one"


@dataclass(frozen=True, slots=True)
class JobRef:
    """What the server must know of a job; `written` is when its trainer status was last written."""

    namespace: str
    name: str
    uid: str
    shown: Shown = field(default_factory=Shown)
    written: datetime | None = None


class ProgressStore(Protocol):
    """Where jobs are looked up and their trainer status is written."""

    def find(self, namespace: str, name: str) -> JobRef | None:
        """The job as the cache shows it."""
        ...

    async def write(self, job: JobRef, report: Report, now: datetime) -> bool:
        """Write the report into the status of exactly this job; False where that has a later one.

        Raises ApiError, of its kinds NotFoundError where the job is gone.
        """
        ...


class ProgressServer:
    """
    Checks, throttles and writes reports; also a Runnable, which writes what was held back.

    Guarantees: only a job's own token is believed; one write in 10 s a job, the latest report of the window
    at its end, and the final one at once; when the server stops, what it holds back is written at once;
    nothing replaces a later report, whichever replica has which.
    """

    name = "progress"

    def __init__(self, store: ProgressStore, tokens: TokenSource, *, clock: Clock, log: Log) -> None:
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._log = log
        self._throttle: Throttle[str, tuple[JobRef, Report]] = Throttle(WINDOW, _is_older)
        self._wake = asyncio.Event()

    def routes(self) -> list[Route]:
        return [Route("POST", PATH, self.handle, MAX_BODY)]

    async def handle(self, request: HttpRequest) -> HttpResponse:
        """Answers one POST: 200 written, 202 held back, 400, 401, 409 too late, since it is outdated."""
        job = self._store.find(request.params["namespace"], request.params["name"])
        if job is None or not self._tokens.is_status(_bearer(request), job.uid):
            return _answer(401, "this is not the token of a job of that name")
        try:
            report = parse_report(request.body, self._clock.now())
        except BadReportError as problem:
            return _answer(400, str(problem))
        if is_outdated(report, job.shown):
            return _answer(409, _TOO_LATE)
        # The last words come before the Workers end: held back, a Completed job would show older ones.
        left = self._throttle.offer(
            job.uid, (job, report), self._clock.now(), written=job.written, is_urgent=report.is_final
        )
        if left is not None:
            self._clock.call_later(left.total_seconds(), self._wake.set)
            return _answer(202, f"kept; written in {left.total_seconds():.0f} s unless a later report comes")
        return await self._write(job, report)

    async def run(self, stop: asyncio.Event) -> None:
        """Write what was held back, when its window ends, and all of it at the stop."""
        stopping = asyncio.create_task(stop.wait(), name="progress/stop")
        try:
            while not stop.is_set():
                waking = asyncio.create_task(self._wake.wait(), name="progress/wake")
                await asyncio.wait({stopping, waking}, return_when=asyncio.FIRST_COMPLETED)
                waking.cancel()
                self._wake.clear()
                await self._write_all(self._throttle.due(self._clock.now()))
        finally:
            stopping.cancel()
        await self._write_all(self._throttle.drain(self._clock.now()))

    async def _write_all(self, kept: list[tuple[str, tuple[JobRef, Report]]]) -> None:
        for _, (job, report) in kept:
            await self._write(job, report)

    async def _write(self, job: JobRef, report: Report) -> HttpResponse:
        try:
            written = await self._store.write(job, report, self._clock.now())
        except NotFoundError:
            return _answer(409, "the job is gone")
        except ApiError as problem:
            self._log.warning("Refused progress", job=f"{job.namespace}/{job.name}", error=str(problem))
            return _answer(503, "the API server refused the report; try again")
        except DglopError as problem:
            self._log.warning("Lost progress", job=f"{job.namespace}/{job.name}", error=str(problem))
            return _answer(503, "the API server does not answer; try again")
        return _answer(200, "written") if written else _answer(409, _TOO_LATE)


def _is_older(one: tuple[JobRef, Report], other: tuple[JobRef, Report]) -> bool:
    shown = Shown(report_attempt=other[1].attempt, report_time=other[1].at)
    return is_outdated(one[1], shown)


def _bearer(request: HttpRequest) -> str:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _answer(status: int, message: str) -> HttpResponse:
    body = msgspec.json.encode({"message": message})
    return HttpResponse(status, body, "application/json")

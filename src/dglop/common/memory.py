# SPDX-License-Identifier: Apache-2.0
"""What the shell remembers of a job between reconciles; losing it costs a request and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dglop.common.backoff import Backoff
from dglop.common.ignored import IgnoredFields
from dglop.common.stuck import PATIENCE

if TYPE_CHECKING:
    from dglop.common.actions import JobEvent
    from dglop.runtime.reconcile import Request

__all__ = ("JobMemory", "Memories")


@dataclass(slots=True)
class JobMemory:
    """
    One job's memory.

    Attributes
    ----------
        objects: kind and name of the objects that were created, or found to be the job's.
        attempt: the attempt that they were created in.
        checked: when they were last forgotten in order to be asked for again (monotonic seconds).
        trouble: why children cannot be created now: a reason and a sentence.
        queue_events: what was told last about the queue that the job is in.
        ignored: fields of the templates that the API server does not know.
    """

    uid: str
    objects: set[tuple[str, str]] = field(default_factory=set)
    attempt: int = 0
    checked: float = -math.inf
    trouble: tuple[str, str] | None = None
    backoff: Backoff = field(default_factory=Backoff)
    queue_events: tuple[JobEvent, ...] = ()
    ignored: IgnoredFields = field(default_factory=IgnoredFields)

    def begin(self, attempt: int) -> None:
        """Forget the objects where the attempt is a new one: what was deleted since is made again."""
        if attempt != self.attempt:
            self.attempt = attempt
            self.objects.clear()

    def recheck(self, now: float) -> None:
        """Forget the objects, at most once in the time that a pod may wait for them."""
        if now - self.checked >= PATIENCE.total_seconds():
            self.checked = now
            self.objects.clear()


class Memories:
    """The memories of all jobs by name; a job made anew under a name begins with none."""

    def __init__(self) -> None:
        self._jobs: dict[Request, JobMemory] = {}

    def of(self, request: Request, uid: str) -> JobMemory:
        known = self._jobs.get(request)
        if known is None or known.uid != uid:
            known = self._jobs[request] = JobMemory(uid)
        return known

    def forget(self, request: Request) -> str | None:
        """Drop a job that is gone; its uid, where it was known."""
        known = self._jobs.pop(request, None)
        return known.uid if known else None

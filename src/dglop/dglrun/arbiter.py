# SPDX-License-Identifier: Apache-2.0
"""Which failure of an attempt was the first: decided once, at the hub, from what it hears and does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Set, Tuple

if TYPE_CHECKING:
    from .failure import Failure

__all__ = ("Arbiter",)

_TOGETHER = 1.0  # seconds within which the order of two reports says nothing on busy machines
_OVERDUE = 2.5  # heartbeats without a word after which a peer may be about to count as lost


class Arbiter:
    """Collects reports and gives one verdict, or that all are done. No clock and no I/O: times are passed in.

    One failure brings others about within moments: a killed trainer's peers end with an error of their own.
    So a report that may be such a consequence waits `grace` seconds for a better one, and longer while a
    peer is overdue, as that one may be the cause. A decisive one is taken at once.
    """

    def __init__(self, workers: int, *, grace: float, heartbeat: float) -> None:
        self._workers = workers
        self._grace = grace
        self._overdue = _OVERDUE * heartbeat
        self._reports: List[Tuple[float, Failure]] = []
        self._done: Set[int] = set()
        self.verdict: Optional[Failure] = None

    def report(self, failure: Failure, at: float) -> None:
        """A failure that happened at `at`, as well as that is known."""
        self._reports.append((at, failure))

    def done(self, index: int) -> None:
        """All trainers of this pod ended well, or it has none."""
        self._done.add(index)

    @property
    def all_done(self) -> bool:
        return len(self._done) == self._workers and self.verdict is None

    def judge(self, now: float, heard: Mapping[int, float]) -> Optional[Failure]:
        """The verdict if there is one by `now`; `heard`: when each other pod last gave a sign of life."""
        if self.verdict is None and self._reports and not self.all_done:
            self.verdict = self._choose(now, heard)
        return self.verdict

    def due(self) -> Optional[float]:
        """When to judge again even if nothing is reported; None: no need."""
        if self.verdict is not None or not self._reports:
            return None
        return min(at for at, _ in self._reports) + self._grace

    def _choose(self, now: float, heard: Mapping[int, float]) -> Optional[Failure]:
        first_at, first = min(self._reports, key=lambda report: report[0])
        near = [report for report in self._reports if report[0] <= first_at + _TOGETHER]
        decisive = [report for report in near if report[1].is_decisive]
        if decisive:
            return min(decisive, key=lambda report: report[0])[1]
        told: Dict[int, bool] = {failure.index: True for _, failure in self._reports}
        if len(told) == self._workers:
            return first
        if now < first_at + self._grace:
            return None
        if any(now - last > self._overdue for index, last in heard.items() if index not in told):
            return None
        return first

# SPDX-License-Identifier: Apache-2.0
"""Each part's share of the metrics: what a controller, a queue, a client, a cache and an elector report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import Gauge

    from dglop.runtime.metrics import Metrics

__all__ = ("CacheMetrics", "ClientMetrics", "ControllerMetrics", "LeaderMetrics", "WorkQueueMetrics")

API_VERBS = ("get", "list", "create", "apply", "patch", "delete")
RESULTS = ("error", "requeue_after", "requeue", "success")
EVENT_OUTCOMES = ("posted", "merged", "dropped", "refused")
WATCH_EVENTS = ("ADDED", "MODIFIED", "DELETED")
CACHE_REASONS = (
    *("ConnectionError", "Timeout", "NotJSON", "NoInitialEndError"),
    *("Expired", "Gone", "TooManyRequests", "InternalError", "ServiceUnavailable", "BadGateway"),
    *("Unauthorized", "Forbidden", "NotFound", "Invalid", "BadRequest"),
)
"""Why lists and watches fail, and are begun anew; a server's further reasons make a series when they come."""
MAX_PRIORITIES = 25
TOO_MANY = "exceeded_cardinality_limit"


class ControllerMetrics:
    """One controller's share of `controller_runtime_*`; every series exists from the start, so rates do."""

    def __init__(self, families: Metrics, controller: str, *, concurrency: int) -> None:
        self._results = {result: families.reconcile_total.labels(controller, result) for result in RESULTS}
        self._errors = families.reconcile_errors.labels(controller)
        self._terminal = families.terminal_errors.labels(controller)
        self._panics = families.panics.labels(controller)
        self._timeouts = families.timeouts.labels(controller)
        self._seconds = families.reconcile_seconds.labels(controller)
        self._active = families.active_workers.labels(controller)
        families.max_concurrent.labels(controller).set(concurrency)
        for verb in API_VERBS:
            families.api_requests.labels(controller, verb)

    def started(self) -> None:
        self._active.inc()

    def finished(self, seconds: float | None) -> None:
        """A worker is free again, after *seconds* of a reconciliation; None if it was put off."""
        self._active.dec()
        if seconds is not None:
            self._seconds.observe(seconds)

    def result(self, result: str) -> None:
        """Count one outcome: one of RESULTS."""
        self._results[result].inc()

    def error(self, *, terminal: bool = False, panic: bool = False, timeout: bool = False) -> None:
        self._errors.inc()
        self._results["error"].inc()
        if terminal:
            self._terminal.inc()
        if panic:
            self._panics.inc()
        if timeout:
            self._timeouts.inc()


class WorkQueueMetrics:
    """One work queue's share of `workqueue_*`."""

    def __init__(self, families: Metrics, name: str) -> None:
        self._families = families
        self._name = name
        self._adds = families.queue_adds.labels(name, name)
        self._retries = families.queue_retries.labels(name, name)
        self._waited = families.queue_seconds.labels(name, name)
        self._worked = families.work_seconds.labels(name, name)
        self._depths: dict[int, Gauge] = {}
        self._overflow: dict[int, int] = {}
        self.depth(0, 0)

    def observe_work(self, work_in_progress: Callable[[], list[float]]) -> None:
        """Have the gauges of unfinished work ask *work_in_progress* whenever they are read."""
        labels = (self._name, self._name)
        self._families.unfinished.labels(*labels).set_function(lambda: sum(work_in_progress()))
        self._families.longest.labels(*labels).set_function(lambda: max(work_in_progress(), default=0.0))

    def added(self) -> None:
        self._adds.inc()

    def retried(self) -> None:
        self._retries.inc()

    def started(self, waited: float) -> None:
        self._waited.observe(waited)

    def finished(self, worked: float) -> None:
        self._worked.observe(worked)

    def depth(self, priority: int, items: int) -> None:
        gauge = self._depths.get(priority)
        if gauge is None and len(self._depths) < MAX_PRIORITIES:
            gauge = self._families.queue_depth.labels(self._name, self._name, str(priority))
            self._depths[priority] = gauge
        if gauge is not None:
            gauge.set(items)
            return
        # Priorities are the user's numbers; without a bound each would be a series of its own.
        self._overflow[priority] = items
        rest = self._families.queue_depth.labels(self._name, self._name, TOO_MANY)
        rest.set(sum(self._overflow.values()))


class ClientMetrics:
    """`rest_client_*`."""

    def __init__(self, families: Metrics) -> None:
        self._families = families

    def request(
        self,
        *,
        method: str,
        host: str,
        code: int | str,
        seconds: float,
        verb: str | None = None,
        sent: int = 0,
    ) -> None:
        """Count one request; *code* is "<error>" where no answer came."""
        word = verb or method
        self._families.requests.labels(str(code), method, host).inc()
        self._families.request_seconds.labels(word, host).observe(seconds)
        self._families.request_bytes.labels(word, host).observe(sent)

    def received(self, *, verb: str, host: str, size: int) -> None:
        self._families.response_bytes.labels(verb, host).observe(size)

    def resolved(self, *, host: str, seconds: float) -> None:
        self._families.dns_seconds.labels(host).observe(seconds)

    def retry(self, *, code: int | str, verb: str, host: str) -> None:
        self._families.request_retries.labels(str(code), verb, host).inc()

    def waited(self, *, seconds: float, verb: str, host: str) -> None:
        self._families.limiter_seconds.labels(verb, host).observe(seconds)

    def called(self, *, controller: str, verb: str) -> None:
        self._families.api_requests.labels(controller, verb).inc()


class CacheMetrics:
    """`dglop_informer_*`: what controller-runtime leaves unmeasured; *kind* is `plural.group`."""

    def __init__(self, families: Metrics) -> None:
        self._families = families

    def kept(self, kind: str) -> None:
        families = self._families
        for type_ in WATCH_EVENTS:
            families.informer_events.labels(kind, type_)
        for reason in CACHE_REASONS:
            families.informer_failures.labels(kind, reason)
            families.informer_relists.labels(kind, reason)
        families.informer_inconsistencies.labels(kind)
        families.informer_synced.labels(kind)
        families.informer_items.labels(kind)

    def synced(self, kind: str, value: bool) -> None:
        self._families.informer_synced.labels(kind).set(value)

    def items(self, kind: str, count: int) -> None:
        self._families.informer_items.labels(kind).set(count)

    def event(self, kind: str, type_: str) -> None:
        self._families.informer_events.labels(kind, type_).inc()
        self._families.informer_last_event.labels(kind).set_to_current_time()

    def relist(self, kind: str, reason: str) -> None:
        self._families.informer_relists.labels(kind, reason).inc()

    def failure(self, kind: str, reason: str) -> None:
        self._families.informer_failures.labels(kind, reason).inc()


class LeaderMetrics:
    """`leader_election_*` of one lease."""

    def __init__(self, families: Metrics, name: str) -> None:
        self._status = families.leader_status.labels(name)
        self._slow = families.leader_slowpath.labels(name)

    def leading(self, is_leading: bool) -> None:
        self._status.set(is_leading)

    def slow_path(self) -> None:
        self._slow.inc()

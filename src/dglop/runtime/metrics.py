# SPDX-License-Identifier: Apache-2.0
"""The metrics of one Manager, under controller-runtime's names, labels and buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = (
    "CacheMetrics",
    "ClientMetrics",
    "ControllerMetrics",
    "LeaderMetrics",
    "Metrics",
    "WorkQueueMetrics",
)

RECONCILE_SECONDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0),
    *(15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)
QUEUE_SECONDS = tuple(10.0**exponent for exponent in range(-8, 4))
REQUEST_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
REQUEST_BYTES = (64.0, 256.0, 512.0, 1024.0, *(4.0**n for n in range(6, 13)))
RESULTS = ("error", "requeue_after", "requeue", "success")
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

    def started(self) -> None:
        self._active.inc()

    def finished(self, seconds: float) -> None:
        self._active.dec()
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
        received: int = 0,
    ) -> None:
        """Count one request; *code* is "<error>" where no answer came."""
        word = verb or method
        self._families.requests.labels(str(code), method, host).inc()
        self._families.request_seconds.labels(word, host).observe(seconds)
        self._families.request_bytes.labels(word, host).observe(sent)
        self._families.response_bytes.labels(word, host).observe(received)

    def retry(self, *, code: int | str, verb: str, host: str) -> None:
        self._families.request_retries.labels(str(code), verb, host).inc()


class CacheMetrics:
    """`dglop_informer_*`: what controller-runtime leaves unmeasured; *kind* is `plural.group`."""

    def __init__(self, families: Metrics) -> None:
        self._families = families

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


class Metrics:
    """
    Every metric family, registered in one registry that belongs to one Manager.

    `registry` is open to metrics of one's own; their labels must be finite (never an object's name).
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._register_controller()
        self._register_queue()
        self._register_client()
        self._register_rest()
        self.client = ClientMetrics(self)
        self.cache = CacheMetrics(self)

    def register_process(self) -> None:
        """Add `process_*` and `python_*`, which read the machine whenever they are scraped."""
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def controller(self, name: str, *, concurrency: int) -> ControllerMetrics:
        return ControllerMetrics(self, name, concurrency=concurrency)

    def queue(self, name: str) -> WorkQueueMetrics:
        return WorkQueueMetrics(self, name)

    def leader(self, name: str) -> LeaderMetrics:
        return LeaderMetrics(self, name)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, text, labels, registry=self.registry, buckets=buckets)

    def _register_controller(self) -> None:
        head, by = "controller_runtime_", "controller"
        self.reconcile_total = self._counter(f"{head}reconcile_total", "Reconciliations", by, "result")
        self.reconcile_errors = self._counter(f"{head}reconcile_errors_total", "Failed ones", by)
        self.terminal_errors = self._counter(
            f"{head}terminal_reconcile_errors_total", "Failed ones that are not tried again", by
        )
        self.panics = self._counter(f"{head}reconcile_panics_total", "Failed ones by a bug", by)
        self.timeouts = self._counter(f"{head}reconcile_timeouts_total", "Ones that took too long", by)
        self.reconcile_seconds = self._histogram(
            f"{head}reconcile_time_seconds", "Length of a reconciliation", RECONCILE_SECONDS, by
        )
        self.max_concurrent = self._gauge(f"{head}max_concurrent_reconciles", "Workers", by)
        self.active_workers = self._gauge(f"{head}active_workers", "Workers that work", by)

    def _register_queue(self) -> None:
        by = ("name", "controller")
        self.queue_depth = self._gauge("workqueue_depth", "Keys that are ready", *by, "priority")
        self.queue_adds = self._counter("workqueue_adds_total", "Keys that became ready", *by)
        self.queue_retries = self._counter("workqueue_retries_total", "Keys added with a delay", *by)
        self.queue_seconds = self._histogram(
            "workqueue_queue_duration_seconds", "How long a ready key waited", QUEUE_SECONDS, *by
        )
        self.work_seconds = self._histogram(
            "workqueue_work_duration_seconds", "How long a key was worked on", QUEUE_SECONDS, *by
        )
        self.unfinished = self._gauge("workqueue_unfinished_work_seconds", "Work in progress, summed", *by)
        self.longest = self._gauge(
            "workqueue_longest_running_processor_seconds", "The longest work in progress", *by
        )

    def _register_client(self) -> None:
        head = "rest_client_"
        self.requests = self._counter(f"{head}requests_total", "Requests", "code", "method", "host")
        self.request_retries = self._counter(
            f"{head}request_retries_total", "Repeated requests", "code", "verb", "host"
        )
        self.request_seconds = self._histogram(
            f"{head}request_duration_seconds", "Time to the answer", REQUEST_SECONDS, "verb", "host"
        )
        self.request_bytes = self._histogram(
            f"{head}request_size_bytes", "Body sent", REQUEST_BYTES, "verb", "host"
        )
        self.response_bytes = self._histogram(
            f"{head}response_size_bytes", "Body received", REQUEST_BYTES, "verb", "host"
        )

    def _register_rest(self) -> None:
        self.leader_status = self._gauge("leader_election_master_status", "1 while leading", "name")
        self.leader_slowpath = self._counter(
            "leader_election_slowpath_total", "Renewals that had to read the lease first", "name"
        )
        head = "dglop_informer_"
        self.informer_synced = self._gauge(f"{head}synced", "1 after the first full list", "kind")
        self.informer_items = self._gauge(f"{head}items", "Objects held", "kind")
        self.informer_events = self._counter(f"{head}events_total", "Watch events", "kind", "event")
        self.informer_last_event = self._gauge(
            f"{head}last_event_timestamp_seconds", "When the last event came", "kind"
        )
        self.informer_relists = self._counter(f"{head}relists_total", "Full lists", "kind", "reason")
        self.informer_failures = self._counter(f"{head}failures_total", "Failed requests", "kind", "reason")
        self.events_posted = self._counter("dglop_events_total", "Events by what became of them", "outcome")
        self.loop_lag = self._gauge(
            "dglop_event_loop_lag_seconds", "How late the event loop's timer was last"
        )
        self.loop_lag_max = self._gauge("dglop_event_loop_lag_max_seconds", "The latest it ever was")

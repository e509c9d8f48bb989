# SPDX-License-Identifier: Apache-2.0
"""The metrics of one Manager, under controller-runtime's names, labels and buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from dglop.errors import ConfigError
from dglop.runtime.metricparts import (
    EVENT_OUTCOMES,
    CacheMetrics,
    ClientMetrics,
    ControllerMetrics,
    LeaderMetrics,
    WorkQueueMetrics,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("Metrics",)

RECONCILE_SECONDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0),
    *(15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)
QUEUE_SECONDS = tuple(10.0**exponent for exponent in range(-8, 4))
REQUEST_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
REQUEST_BYTES = (64.0, 256.0, 512.0, 1024.0, *(4.0**n for n in range(6, 13)))
F = TypeVar("F", bound="Counter | Gauge | Histogram")


class Metrics:
    """
    Every metric family, registered in one registry that belongs to one Manager.

    `registry` is open to metrics of one's own; their labels must be finite (never an object's name).
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry: CollectorRegistry = registry or CollectorRegistry()
        self._families: dict[str, Counter | Gauge | Histogram] = {}
        self._register_controller()
        self._register_queue()
        self._register_client()
        self._register_rest()
        self.client: ClientMetrics = ClientMetrics(self)
        self.cache: CacheMetrics = CacheMetrics(self)

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

    def counter(self, name: str, text: str, *labels: str) -> Counter:
        """The counter of this name, made at the first call, so that several parts can share it."""
        return self._family(Counter, name, lambda: Counter(name, text, labels, registry=self.registry))

    def gauge(self, name: str, text: str, *labels: str) -> Gauge:
        """The gauge of this name, made at the first call."""
        return self._family(Gauge, name, lambda: Gauge(name, text, labels, registry=self.registry))

    def histogram(
        self, name: str, text: str, *labels: str, buckets: tuple[float, ...] = Histogram.DEFAULT_BUCKETS
    ) -> Histogram:
        """The histogram of this name, made at the first call."""
        return self._family(
            Histogram, name, lambda: Histogram(name, text, labels, registry=self.registry, buckets=buckets)
        )

    def _family(self, type_: type[F], name: str, make: Callable[[], F]) -> F:
        known = self._families.get(name)
        if known is None:
            known = self._families[name] = make()
        if not isinstance(known, type_):
            raise ConfigError(f"the metric {name} is a {type(known).__name__.lower()} already")
        return known

    def _register_controller(self) -> None:
        head, by = "controller_runtime_", "controller"
        self.reconcile_total: Counter = self.counter(
            f"{head}reconcile_total", "Reconciliations", by, "result"
        )
        self.reconcile_errors: Counter = self.counter(f"{head}reconcile_errors_total", "Failed ones", by)
        self.terminal_errors: Counter = self.counter(
            f"{head}terminal_reconcile_errors_total", "Failed ones that are not tried again", by
        )
        self.panics: Counter = self.counter(f"{head}reconcile_panics_total", "Failed ones by a bug", by)
        self.timeouts: Counter = self.counter(
            f"{head}reconcile_timeouts_total", "Ones that took too long", by
        )
        self.reconcile_seconds: Histogram = self.histogram(
            f"{head}reconcile_time_seconds", "Length of a reconciliation", by, buckets=RECONCILE_SECONDS
        )
        self.max_concurrent: Gauge = self.gauge(f"{head}max_concurrent_reconciles", "Workers", by)
        self.active_workers: Gauge = self.gauge(f"{head}active_workers", "Workers that work", by)

    def _register_queue(self) -> None:
        by = ("name", "controller")
        self.queue_depth: Gauge = self.gauge("workqueue_depth", "Keys that are ready", *by, "priority")
        self.queue_adds: Counter = self.counter("workqueue_adds_total", "Keys that became ready", *by)
        self.queue_retries: Counter = self.counter("workqueue_retries_total", "Keys added with a delay", *by)
        self.queue_seconds: Histogram = self.histogram(
            "workqueue_queue_duration_seconds", "How long a ready key waited", *by, buckets=QUEUE_SECONDS
        )
        self.work_seconds: Histogram = self.histogram(
            "workqueue_work_duration_seconds", "How long a key was worked on", *by, buckets=QUEUE_SECONDS
        )
        self.unfinished: Gauge = self.gauge(
            "workqueue_unfinished_work_seconds", "Work in progress, summed", *by
        )
        self.longest: Gauge = self.gauge(
            "workqueue_longest_running_processor_seconds", "The longest work in progress", *by
        )

    def _register_client(self) -> None:
        head = "rest_client_"
        self.requests: Counter = self.counter(f"{head}requests_total", "Requests", "code", "method", "host")
        self.request_retries: Counter = self.counter(
            f"{head}request_retries_total", "Repeated requests", "code", "verb", "host"
        )
        self.request_seconds: Histogram = self.histogram(
            f"{head}request_duration_seconds", "Time to the answer", "verb", "host", buckets=REQUEST_SECONDS
        )
        self.dns_seconds: Histogram = self.histogram(
            f"{head}dns_resolution_duration_seconds", "Host name to address", "host", buckets=REQUEST_SECONDS
        )
        self.limiter_seconds: Histogram = self.histogram(
            f"{head}rate_limiter_duration_seconds", "Held back", "verb", "host", buckets=REQUEST_SECONDS
        )
        self.api_requests: Counter = self.counter(
            "dglop_api_requests_total", "Requests that a controller's reconciler made", "controller", "verb"
        )
        self.request_bytes: Histogram = self.histogram(
            f"{head}request_size_bytes", "Body sent", "verb", "host", buckets=REQUEST_BYTES
        )
        self.response_bytes: Histogram = self.histogram(
            f"{head}response_size_bytes", "Body received", "verb", "host", buckets=REQUEST_BYTES
        )

    def _register_rest(self) -> None:
        self.leader_status: Gauge = self.gauge("leader_election_master_status", "1 while leading", "name")
        self.leader_slowpath: Counter = self.counter(
            "leader_election_slowpath_total", "Renewals that had to read the lease first", "name"
        )
        head = "dglop_informer_"
        self.informer_synced: Gauge = self.gauge(f"{head}synced", "1 after the first full list", "kind")
        self.informer_items: Gauge = self.gauge(f"{head}items", "Objects held", "kind")
        self.informer_events: Counter = self.counter(f"{head}events_total", "Watch events", "kind", "event")
        self.informer_last_event: Gauge = self.gauge(
            f"{head}last_event_timestamp_seconds", "When the last event came", "kind"
        )
        self.informer_relists: Counter = self.counter(f"{head}relists_total", "Full lists", "kind", "reason")
        self.informer_failures: Counter = self.counter(
            f"{head}failures_total", "Failed requests", "kind", "reason"
        )
        self.informer_inconsistencies: Counter = self.counter(
            f"{head}inconsistencies_total", "Objects held otherwise than the API server has them", "kind"
        )
        self.events_posted: Counter = self.counter(
            "dglop_events_total", "Events by what became of them", "outcome"
        )
        for outcome in EVENT_OUTCOMES:
            self.events_posted.labels(outcome)
        self.loop_lag: Gauge = self.gauge(
            "dglop_event_loop_lag_seconds", "How late the event loop's timer was last"
        )
        self.loop_lag_max: Gauge = self.gauge("dglop_event_loop_lag_max_seconds", "The latest it ever was")

# SPDX-License-Identifier: Apache-2.0
"""The metrics' names, labels and buckets are controller-runtime's."""

from __future__ import annotations

import pytest

from dglop.errors import ConfigError
from dglop.runtime.metricparts import CACHE_REASONS, MAX_PRIORITIES
from dglop.runtime.metrics import Metrics
from dglop.runtime.webhook.metrics import WebhookMetrics

NAMES = {
    "controller_runtime_reconcile_total": {"controller", "result"},
    "controller_runtime_reconcile_errors_total": {"controller"},
    "controller_runtime_terminal_reconcile_errors_total": {"controller"},
    "controller_runtime_reconcile_panics_total": {"controller"},
    "controller_runtime_reconcile_timeouts_total": {"controller"},
    "controller_runtime_reconcile_time_seconds_count": {"controller"},
    "controller_runtime_max_concurrent_reconciles": {"controller"},
    "controller_runtime_active_workers": {"controller"},
    "workqueue_depth": {"name", "controller", "priority"},
    "workqueue_adds_total": {"name", "controller"},
    "workqueue_retries_total": {"name", "controller"},
    "workqueue_queue_duration_seconds_count": {"name", "controller"},
    "workqueue_work_duration_seconds_count": {"name", "controller"},
    "workqueue_unfinished_work_seconds": {"name", "controller"},
    "workqueue_longest_running_processor_seconds": {"name", "controller"},
    "rest_client_requests_total": {"code", "method", "host"},
    "rest_client_request_duration_seconds_count": {"verb", "host"},
    "rest_client_dns_resolution_duration_seconds_count": {"host"},
    "rest_client_rate_limiter_duration_seconds_count": {"verb", "host"},
    "rest_client_request_size_bytes_count": {"verb", "host"},
    "rest_client_response_size_bytes_count": {"verb", "host"},
    "rest_client_request_retries_total": {"code", "verb", "host"},
    "leader_election_master_status": {"name"},
    "leader_election_slowpath_total": {"name"},
}

# As written in controller-runtime and client-go: not taken from the code that is tested.
TENFOLD = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000)
SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
BYTES = (64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)
BUCKETS = {
    "controller_runtime_reconcile_time_seconds": (
        *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
        *(1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60),
    ),
    "workqueue_queue_duration_seconds": TENFOLD,
    "workqueue_work_duration_seconds": TENFOLD,
    "controller_runtime_webhook_latency_seconds": TENFOLD,
    "rest_client_request_duration_seconds": SECONDS,
    "rest_client_dns_resolution_duration_seconds": SECONDS,
    "rest_client_rate_limiter_duration_seconds": SECONDS,
    "rest_client_request_size_bytes": BYTES,
    "rest_client_response_size_bytes": BYTES,
}


@pytest.fixture
def metrics() -> Metrics:
    metrics = Metrics()
    metrics.controller("jobs", concurrency=3)
    queue = metrics.queue("jobs")
    queue.observe_work(lambda: [1.0, 4.0])
    metrics.client.request(method="GET", host="api:443", code=200, seconds=0.1, sent=10)
    metrics.client.received(verb="GET", host="api:443", size=2000)
    metrics.client.resolved(host="api", seconds=0.01)
    metrics.client.waited(seconds=0.1, verb="GET", host="api:443")
    WebhookMetrics(metrics, ["/validate"])
    metrics.client.retry(code="<error>", verb="GET", host="api:443")
    leader = metrics.leader("lease")
    leader.leading(True)
    leader.slow_path()
    return metrics


@pytest.mark.parametrize(("name", "labels"), NAMES.items(), ids=NAMES)
def test_every_name_has_its_labels(metrics, name, labels):
    samples = [s for family in metrics.registry.collect() for s in family.samples if s.name == name]
    assert samples
    assert all(set(sample.labels) == labels for sample in samples)


def test_all_results_exist_before_the_first_reconciliation(metrics):
    for result in ("error", "requeue_after", "requeue", "success"):
        labels = {"controller": "jobs", "result": result}
        assert metrics.registry.get_sample_value("controller_runtime_reconcile_total", labels) == 0


@pytest.mark.parametrize(("name", "bounds"), BUCKETS.items(), ids=BUCKETS)
def test_every_histogram_has_its_buckets(metrics, name, bounds):
    samples = [
        s for family in metrics.registry.collect() for s in family.samples if s.name == f"{name}_bucket"
    ]
    assert [float(sample.labels["le"]) for sample in samples] == [*bounds, float("inf")]


def test_no_histogram_is_without_known_buckets(metrics):
    assert {family.name for family in metrics.registry.collect() if family.type == "histogram"} == set(
        BUCKETS
    )


def test_the_informers_and_the_events_series_exist_before_anything_happens(metrics):
    metrics.cache.kept("pods")

    def shown(name, **labels):
        return metrics.registry.get_sample_value(name, labels)

    for reason in CACHE_REASONS:
        assert shown("dglop_informer_failures_total", kind="pods", reason=reason) == 0
        assert shown("dglop_informer_relists_total", kind="pods", reason=reason) == 0
    for event in ("ADDED", "MODIFIED", "DELETED"):
        assert shown("dglop_informer_events_total", kind="pods", event=event) == 0
    assert shown("dglop_informer_inconsistencies_total", kind="pods") == 0
    for outcome in ("posted", "merged", "dropped", "refused"):
        assert shown("dglop_events_total", outcome=outcome) == 0


def test_unfinished_work_is_asked_for_when_it_is_read(metrics):
    labels = {"name": "jobs", "controller": "jobs"}
    assert metrics.registry.get_sample_value("workqueue_unfinished_work_seconds", labels) == 5.0
    assert metrics.registry.get_sample_value("workqueue_longest_running_processor_seconds", labels) == 4.0


def test_priorities_beyond_a_bound_share_one_series(metrics):
    queue = metrics.queue("other")
    for priority in range(1, 100):
        queue.depth(priority, 2)
    samples = [
        s
        for family in metrics.registry.collect()
        for s in family.samples
        if s.name == "workqueue_depth" and s.labels["name"] == "other"
    ]
    assert len(samples) == MAX_PRIORITIES + 1
    rest = next(s for s in samples if s.labels["priority"] == "exceeded_cardinality_limit")
    assert rest.value == 2 * (100 - MAX_PRIORITIES)


def test_a_metric_asked_for_twice_is_the_same_and_of_another_type_is_refused(metrics):
    first = metrics.counter("jobs_created_total", "Jobs", "framework")
    assert metrics.counter("jobs_created_total", "Jobs", "framework") is first
    with pytest.raises(ConfigError, match="a counter already"):
        metrics.gauge("jobs_created_total", "Jobs", "framework")


def test_two_managers_metrics_do_not_meet():
    Metrics().controller("jobs", concurrency=1)
    Metrics().controller("jobs", concurrency=1)

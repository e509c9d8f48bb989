# SPDX-License-Identifier: Apache-2.0
"""The metrics' names, labels and buckets are controller-runtime's."""

from __future__ import annotations

import pytest
from prometheus_client import generate_latest

from dglop.errors import ConfigError
from dglop.runtime.metricparts import MAX_PRIORITIES
from dglop.runtime.metrics import Metrics

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
    "rest_client_request_size_bytes_count": {"verb", "host"},
    "rest_client_response_size_bytes_count": {"verb", "host"},
    "rest_client_request_retries_total": {"code", "verb", "host"},
    "leader_election_master_status": {"name"},
    "leader_election_slowpath_total": {"name"},
}


@pytest.fixture
def metrics() -> Metrics:
    metrics = Metrics()
    metrics.controller("jobs", concurrency=3)
    queue = metrics.queue("jobs")
    queue.observe_work(lambda: [1.0, 4.0])
    metrics.client.request(method="GET", host="api:443", code=200, seconds=0.1, sent=10, received=2000)
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


def test_the_queues_buckets_go_from_ten_nanoseconds_to_a_thousand_seconds(metrics):
    text = generate_latest(metrics.registry).decode()
    lines = [ln for ln in text.splitlines() if ln.startswith("workqueue_work_duration_seconds_bucket")]
    bounds = [float(line.split('le="')[1].split('"')[0]) for line in lines]
    assert bounds == [*(10.0**n for n in range(-8, 4)), float("inf")]


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

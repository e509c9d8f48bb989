# SPDX-License-Identifier: Apache-2.0
"""What the shipped Deployment tells a monitoring system: through its Service, under the usual names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from hack.stack import NAMESPACE

if TYPE_CHECKING:
    from prometheus_client.samples import Sample

    from test.e2e.jobs import Jobs
    from test.e2e.kubectl import Kubectl

_METRICS = f"/api/v1/namespaces/{NAMESPACE}/services/http:dglop-metrics:metrics/proxy/metrics"
_GROWING = {
    "controller_runtime_reconcile_total": {"controller": "dgljob"},
    "controller_runtime_reconcile_time_seconds_count": {"controller": "dgljob"},
    "workqueue_adds_total": {"name": "dgljob"},
    "rest_client_requests_total": {"code": "201"},
}


def _scrape(kubectl: Kubectl) -> list[Sample]:
    families = text_string_to_metric_families(kubectl.out("get", "--raw", _METRICS))
    return [sample for family in families for sample in family.samples]


def _total(samples: list[Sample], series: str, **labels: str) -> float:
    found = [each.value for each in samples if each.name == series and labels.items() <= each.labels.items()]
    assert found, f"no series {series} {labels}"
    return sum(found)


def test_the_metrics_service_counts_reconciliations_requests_and_jobs(jobs: Jobs, kubectl: Kubectl) -> None:
    before = _scrape(kubectl)
    jobs.submit(jobs.skip("alone", ["true"]))
    jobs.until_phase("alone", "Completed")
    samples = _scrape(kubectl)
    for name, labels in _GROWING.items():
        assert _total(samples, name, **labels) > _total(before, name, **labels), name
    kubectl.until("no key waits", lambda: _total(_scrape(kubectl), "workqueue_depth", name="dgljob") == 0)
    assert _total(samples, "leader_election_master_status") == 1
    for word in ("created", "successful"):
        assert _total(samples, f"training_operator_jobs_{word}_total", job_namespace=jobs.namespace) == 1


def test_the_health_port_says_that_the_operator_is_ready_and_by_which_checks(kubectl: Kubectl) -> None:
    pods = kubectl.list("pods", NAMESPACE, "control-plane=controller-manager")
    serving = [each["metadata"]["name"] for each in pods if "deletionTimestamp" not in each["metadata"]]
    assert serving
    for pod in serving:
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/http:{pod}:8081/proxy/readyz"
        assert kubectl.out("get", "--raw", path).strip() == "ok"
        *checks, verdict = kubectl.out("get", "--raw", f"{path}?verbose").split("\n")[:-1]
        assert verdict == "readyz check passed"
        assert "[+]informers ok" in checks
        assert all(re.fullmatch(r"\[\+\]\S+ ok", check) for check in checks), checks

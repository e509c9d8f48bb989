# SPDX-License-Identifier: Apache-2.0
"""What the shipped Deployment tells a monitoring system: through its Service, under the usual names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from hack.stack import NAMESPACE

if TYPE_CHECKING:
    from prometheus_client.samples import Sample

    from test.e2e.jobs import Jobs
    from test.e2e.kubectl import Kubectl

_METRICS = f"/api/v1/namespaces/{NAMESPACE}/services/http:dglop-metrics:metrics/proxy/metrics"


def _scrape(kubectl: Kubectl) -> list[Sample]:
    families = text_string_to_metric_families(kubectl.out("get", "--raw", _METRICS))
    return [sample for family in families for sample in family.samples]


def test_the_metrics_service_counts_reconciliations_requests_and_jobs(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(jobs.skip("alone", ["true"]))
    jobs.until_phase("alone", "Completed")
    samples = _scrape(kubectl)

    def total(name: str, **labels: str) -> float:
        found = [
            each.value for each in samples if each.name == name and labels.items() <= each.labels.items()
        ]
        assert found, f"no series {name} {labels}"
        return sum(found)

    assert total("controller_runtime_reconcile_total") > 0
    assert total("workqueue_depth") >= 0
    assert total("rest_client_requests_total", code="200") > 0
    assert total("leader_election_master_status") == 1
    for word in ("created", "successful"):
        assert total(f"training_operator_jobs_{word}_total", job_namespace=jobs.namespace) == 1


def test_the_health_port_says_that_the_operator_is_ready(kubectl: Kubectl) -> None:
    pods = kubectl.list("pods", NAMESPACE, "control-plane=controller-manager")
    serving = [each["metadata"]["name"] for each in pods if "deletionTimestamp" not in each["metadata"]]
    assert serving
    for pod in serving:
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/http:{pod}:8081/proxy/readyz"
        assert kubectl.out("get", "--raw", path).strip()

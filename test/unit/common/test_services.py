# SPDX-License-Identifier: Apache-2.0
"""The Services of a kind that asks for one a replica."""

from __future__ import annotations

import pytest

from dglop.common import replica_services
from dglop.common.constants import DEFAULT_CONTAINER_ANNOTATION
from dglop.testing.builders import pod_template
from dglop.testing.toyjob import ToyJobKind


def test_a_service_a_replica_selects_its_pod_and_has_the_ports_of_the_main_container(simulate) -> None:
    template = pod_template("side", "main")
    template["metadata"] = {"annotations": {DEFAULT_CONTAINER_ANNOTATION: "main"}}
    ports = [{"name": "rpc", "containerPort": 30050}, {"containerPort": 80, "protocol": "UDP"}]
    template["spec"]["containers"][1]["ports"] = ports
    world = simulate(roles={"Worker": 2}, template=template)
    assert sorted(world.services) == sorted(world.pods) == ["g-worker-0", "g-worker-1"]
    for name, service in world.services.items():
        spec, labels = service["spec"], world.pods[name]["metadata"]["labels"]
        assert (spec["clusterIP"], spec["publishNotReadyAddresses"]) == ("None", True)
        assert spec["selector"].items() <= labels.items()
        assert spec["selector"].items() <= service["metadata"]["labels"].items()
        assert spec["ports"] == [
            {"name": "rpc", "port": 30050, "targetPort": 30050, "protocol": "TCP"},
            {"name": "port-80", "port": 80, "targetPort": 80, "protocol": "UDP"},
        ]
        others = [pod for pod in world.pods if pod != name]
        assert not any(
            spec["selector"].items() <= world.pods[pod]["metadata"]["labels"].items() for pod in others
        )


def test_a_container_without_ports_has_a_service_without(make_job) -> None:
    (service,) = replica_services(ToyJobKind(), make_job(workers=1))
    assert "ports" not in service["spec"]


@pytest.mark.parametrize("port", [7, {}, {"containerPort": "http"}])
def test_a_port_that_is_none_ends_the_job_and_names_the_template(simulate, port) -> None:
    template = pod_template()
    template["spec"]["containers"][0]["ports"] = [port]
    world = simulate(template=template)
    failed = world.status.get("Failed")
    assert failed.reason == "InvalidSpec"
    assert "worker.template" in failed.message

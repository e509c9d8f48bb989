# SPDX-License-Identifier: Apache-2.0
"""Containers that a node lost: the kubelet counts each as a restart, yet nothing was started again."""

from __future__ import annotations

from typing import Any

import msgspec

from dglop.common.views import PodView
from dglop.testing.builders import make_pod_wire

LOST: dict[str, Any] = {
    "phase": "Failed",
    "exit_code": 137,
    "reason": "ContainerStatusUnknown",
    "restarts": 1,
}


def test_a_node_that_loses_the_containers_of_a_whole_gang_costs_one_restart(simulate):
    world = simulate(gang=True, workers=4, backoff_limit=3)
    world.run_all()
    world.settle()
    for index in range(4):
        world.set_pod(index=index, **LOST)
    world.settle()
    assert (world.status.attempt, world.status.restart_count) == (2, 1)
    assert len(world.creates) == 8


def test_what_the_kubelet_counts_for_a_lost_container_of_a_pod_that_never_restarts_is_no_restart():
    wire = make_pod_wire(**LOST)
    assert msgspec.convert(wire, PodView).restarts == 0
    wire["spec"]["containers"][0]["restartPolicy"] = "OnFailure"
    assert msgspec.convert(wire, PodView).restarts == 1, "this container is started again by its own policy"

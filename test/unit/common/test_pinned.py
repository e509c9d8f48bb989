# SPDX-License-Identifier: Apache-2.0
"""Pods whose template names a node: one that is not there is the job's fault, one that was lost is not."""

from __future__ import annotations

import pytest

from dglop.common import RestartPolicy
from dglop.runtime.api.times import format_time
from dglop.testing.builders import container_status, pod_template

PINNED = pod_template(nodeName="ghost")


def collected(world, index=0, *, ran=False, scheduled=False):
    """The control plane fails a pod of a node that does not exist, and then deletes it."""
    conditions = [
        {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": "PodGC: node no longer exists",
            "lastTransitionTime": format_time(world.now),
        }
    ]
    if scheduled:
        conditions.append({"type": "PodScheduled", "status": "True"})
    status = {"phase": "Failed", "conditions": conditions}
    if ran:
        status["containerStatuses"] = [container_status(ready=True)]
    world.pod(index=index)["status"] = status


@pytest.mark.parametrize("gang", [True, False])
@pytest.mark.parametrize("is_seen", [True, False], ids=["failed first", "gone at once"])
def test_a_node_that_is_not_there_ends_the_job_at_its_backoff_limit_and_is_named(simulate, gang, is_seen):
    world = simulate(workers=1, template=PINNED, gang=gang, backoff_limit=2)
    for _ in range(3):
        assert not world.status.is_true("Failed")
        if is_seen:
            collected(world)
        else:
            del world.pods["g-worker-0"]
        world.settle()
    failed = world.status.get("Failed")
    assert failed.reason == world.status.reason == "BackoffLimitExceeded"
    assert "node ghost, which the pod template names" in failed.message
    assert (world.status.restart_count, world.status.disruption_count) == (2, 0)


def test_under_never_the_first_pod_on_a_node_that_is_not_there_fails_the_job(simulate):
    world = simulate(workers=1, template=PINNED, restart=RestartPolicy.NEVER)
    collected(world)
    world.settle()
    assert world.status.get("Failed").message == (
        "g-worker-0: pod was deleted (NodeNotFound): node ghost, which the pod template names, does not exist"
    )


@pytest.mark.parametrize(
    ("template", "state"),
    [
        (PINNED, {"ran": True}),
        (pod_template(), {"scheduled": True}),
        (pod_template(), {"scheduled": True, "ran": True}),
    ],
    ids=["pinned and ran", "bound and never ran", "bound and ran"],
)
def test_the_loss_of_a_node_that_was_there_is_never_counted(simulate, template, state):
    world = simulate(workers=1, template=template, backoff_limit=0)
    for _ in range(5):
        collected(world, **state)
        world.settle()
    assert not world.status.is_true("Failed")
    assert (world.status.restart_count, world.status.disruption_count) == (0, 5)

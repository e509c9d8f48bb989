# SPDX-License-Identifier: Apache-2.0
"""Lives of jobs in PodGroups; what needs only the plan is tested without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common import SchedulingPolicy
from dglop.common.constants import POD
from dglop.testing.builders import pod_template
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.envtest.gang.world import GangWorld

SUSPEND = {"spec": {"runPolicy": {"suspend": True}}}
RESUME = {"spec": {"runPolicy": {"suspend": False}}}


async def test_pods_come_when_volcano_takes_up_the_group_whatever_its_labels(volcano: GangWorld):
    template = pod_template()
    template["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1500m", "memory": "1Gi"}}
    await volcano.submit(template=template, scheduling_policy=SchedulingPolicy(queue="q1"))
    group = await volcano.group()
    assert group["spec"] == {
        "minMember": 2,
        "minResources": {"cpu": "3", "memory": str(2 * 2**30)},
        "queue": "q1",
    }
    bare = {"metadata": {"labels": None}}
    await volcano.client.patch(volcano.kind, "g", volcano.namespace, bare)
    await volcano.set_phase("Pending")
    await volcano.until(lambda: volcano.groups()["g"].get("status", {}).get("phase") == "Pending")
    assert volcano.pods() == {}
    await volcano.set_phase("Inqueue")
    await volcano.run_all(2)
    await volcano.until(lambda: volcano.is_true("Running"))
    pod = await volcano.client.get(POD, "g-worker-0", volcano.namespace)
    assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "g"
    assert pod["spec"]["schedulerName"] == "volcano"


async def test_the_group_of_a_job_that_is_over_is_gone_and_stays_so(volcano: GangWorld):
    async def live(name: str, phase: str, code: int) -> None:
        await volcano.submit(name, workers=1)
        await volcano.group(name)
        await volcano.set_phase("Inqueue", name)
        await volcano.run_all(1, name)
        await volcano.set_pod(f"{name}-worker-0", phase, exit_code=code)
        await volcano.until(lambda: volcano.is_true(phase, name))
        await volcano.until(lambda: name not in volcano.groups())
        await volcano.client.patch(
            ToyJob, name, volcano.namespace, {"metadata": {"labels": {"look": "again"}}}
        )
        await volcano.client.delete(POD, f"{name}-worker-0", volcano.namespace, grace_seconds=0)
        await volcano.until(lambda: not volcano.pods(name))
        assert name not in volcano.groups()

    await live("good", "Succeeded", 0)
    await live("bad", "Failed", 1)


async def test_a_suspended_job_has_no_group_and_queues_anew_when_it_is_resumed(volcano: GangWorld):
    await volcano.submit()
    first = (await volcano.group())["metadata"]["uid"]
    await volcano.set_phase("Running")
    await volcano.run_all(2)
    await volcano.client.patch(ToyJob, "g", volcano.namespace, SUSPEND)
    await volcano.until(lambda: not volcano.groups() and not volcano.pods())
    await volcano.client.patch(ToyJob, "g", volcano.namespace, RESUME)
    assert (await volcano.group())["metadata"]["uid"] != first
    assert volcano.pods() == {}
    await volcano.set_phase("Running")
    await volcano.run_all(2)
    await volcano.until(lambda: volcano.is_true("Running"))


async def test_a_group_that_was_deleted_by_hand_is_made_again(volcano: GangWorld):
    await volcano.submit()
    first = (await volcano.group())["metadata"]["uid"]
    await volcano.client.delete(volcano.kind, "g", volcano.namespace)
    await volcano.until(lambda: (seen := volcano.groups().get("g")) and seen["metadata"]["uid"] != first)


async def test_a_group_of_another_owner_is_waited_out_and_not_touched(volcano: GangWorld):
    foreign: dict[str, Any] = {
        "apiVersion": volcano.kind.api_version,
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": volcano.namespace},
        "spec": {"minMember": 7},
    }
    made = await volcano.client.create(foreign)
    await volcano.submit()
    await volcano.until(lambda: (job := volcano.job()) and job.status.get("Running"))
    running = volcano.job().status.get("Running")
    assert (running.status, running.reason) == ("False", "ErrResourceExists")
    assert volcano.groups()["g"]["metadata"]["uid"] == made["metadata"]["uid"]
    await volcano.client.delete(volcano.kind, "g", volcano.namespace)
    await volcano.until(lambda: [each["spec"]["minMember"] for each in volcano.groups().values()] == [2])


async def test_more_workers_make_the_group_larger_and_leave_its_queue(volcano: GangWorld):
    await volcano.submit()
    await volcano.group()
    await volcano.client.patch(volcano.kind, "g", volcano.namespace, {"spec": {"queue": "moved"}})
    more = {"spec": {"replicaSpecs": {"worker": {"replicas": 3}}}}
    await volcano.client.patch(ToyJob, "g", volcano.namespace, more)
    await volcano.until(lambda: volcano.groups()["g"]["spec"]["minMember"] == 3)
    assert volcano.groups()["g"]["spec"]["queue"] == "moved"


async def test_scheduler_plugins_have_the_pods_at_once(scheduler_plugins: GangWorld):
    world = scheduler_plugins
    policy = SchedulingPolicy(min_available=1, schedule_timeout_seconds=30)
    await world.submit(scheduling_policy=policy)
    group = await world.group()
    assert group["spec"] == {"minMember": 1, "scheduleTimeoutSeconds": 30}
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    pod = await world.client.get(POD, "g-worker-1", world.namespace)
    assert pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == "g"
    for name in world.pods():
        await world.set_pod(name, "Succeeded", exit_code=0)
    await world.until(lambda: world.is_true("Succeeded") and not world.groups())

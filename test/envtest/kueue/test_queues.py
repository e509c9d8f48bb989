# SPDX-License-Identifier: Apache-2.0
"""Jobs that a real Kueue lets in, throws out and lets in again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.constants import POD
from dglop.common.kueue.names import LABEL_PREBUILT, LABEL_PRIORITY, LABEL_QUEUE, WORKLOAD
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.envtest.kueue.queues import Queues
    from test.envtest.kueue.world import QueueWorld

RUNNING = ("True", "Started")


async def run(world: QueueWorld, name: str = "g", workers: int = 2) -> None:
    await world.run_all(workers, name)
    await world.until(lambda: world.is_true("Running", name))


async def test_a_job_waits_suspended_without_quota_and_runs_where_the_queue_says_with_it(
    world: QueueWorld, queues: Queues
):
    await queues.stop("Hold")
    made = await world.queue()
    await world.until(lambda: world.is_suspended() and world.workload())
    (workload,) = world.workloads()
    assert workload["spec"]["queueName"] == "q"
    assert [(each["name"], each["count"]) for each in workload["spec"]["podSets"]] == [("worker", 2)]
    await queues.stop("None")
    await run(world)
    pod = await world.client.get(POD, "g-worker-0", world.namespace)
    assert pod["spec"]["nodeSelector"] == {"pool": "a"}
    assert "pool" in [each.get("key") for each in pod["spec"]["tolerations"]]
    assert pod["metadata"]["labels"]["kueue.x-k8s.io/podset"] == "worker"
    await world.until(lambda: world.says("PodsReady") == RUNNING)
    await world.finish()
    await world.until(lambda: world.says("Finished") == ("True", "Succeeded"))
    assert world.job().spec.replica_specs == made.spec.replica_specs, "the spec is the user's"
    wanted = {"CreatedWorkload", "Started", "FinishedWorkload"}
    await world.until(lambda: wanted <= set(world.event_reasons()))


async def test_the_next_job_runs_when_the_first_one_is_over(world: QueueWorld, queues: Queues):
    await world.queue("one")
    await run(world, "one")
    await world.queue("two")
    await world.until(lambda: world.is_suspended("two") and world.says("QuotaReserved", "two")[0] == "False")
    await world.finish("one")
    await run(world, "two")


async def test_a_job_that_is_preempted_gives_its_quota_back_and_is_resumed(world: QueueWorld, queues: Queues):
    high = await queues.priority("high", 1000)
    await world.queue("low")
    await run(world, "low")
    await world.queue("urgent", labels={LABEL_QUEUE: "q", LABEL_PRIORITY: high})
    await world.until(lambda: world.is_suspended("low"))
    await run(world, "urgent")
    assert world.says("Evicted", "low") == ("True", "Preempted")
    assert world.says("QuotaReserved", "low")[0] == "False"
    await world.finish("urgent")
    await run(world, "low")
    await world.until(lambda: world.says("PodsReady", "low")[0] == "True")
    job = world.job("low")
    assert (job.status.restart_count, job.status.disruption_count) == (0, 0)
    assert job.status.is_true("Suspended") is False


async def test_after_another_flavor_the_pods_have_that_one_alone(world: QueueWorld, queues: Queues):
    made = await world.queue()
    await run(world)
    assert await world.selectors() == [{"pool": "a"}] * 2
    await queues.stop()
    await world.until(lambda: world.is_suspended() and world.says("QuotaReserved")[0] == "False")
    assert world.job().spec.replica_specs == made.spec.replica_specs
    await queues.set_flavors("b")
    await queues.stop("None")
    await run(world)
    assert await world.selectors() == [{"pool": "b"}] * 2
    assert world.job().spec.replica_specs == made.spec.replica_specs


async def test_a_workload_that_is_turned_off_stops_its_job_until_it_is_turned_on(
    world: QueueWorld, queues: Queues
):
    await world.queue()
    await run(world)
    name = world.workload()["metadata"]["name"]
    await world.client.patch(WORKLOAD, name, world.namespace, {"spec": {"active": False}})
    await world.until(lambda: world.is_suspended() and world.says("QuotaReserved")[0] == "False")
    await world.client.patch(WORKLOAD, name, world.namespace, {"spec": {"active": True}})
    await run(world)


async def test_a_job_that_is_changed_while_it_waits_keeps_its_place(world: QueueWorld, queues: Queues):
    await queues.stop("Hold")
    await world.queue()
    await world.until(lambda: world.is_suspended() and world.workload())
    before = world.workload()["metadata"]["uid"]
    await world.client.patch(ToyJob, "g", world.namespace, _workers(1))
    await world.until(lambda: world.workload()["spec"]["podSets"][0]["count"] == 1)
    assert world.workload()["metadata"]["uid"] == before
    await queues.stop("None")
    await run(world, workers=1)


async def test_a_job_that_is_changed_while_it_runs_is_queued_anew(world: QueueWorld, queues: Queues):
    await world.queue()
    await run(world)
    before = world.workload()["metadata"]["uid"]
    await world.client.patch(ToyJob, "g", world.namespace, _workers(1))
    await world.until(lambda: (seen := world.workload()) and seen["metadata"]["uid"] != before)
    await run(world, workers=1)
    assert list(world.pods()) == ["g-worker-0"]


async def test_pods_that_are_done_for_good_give_their_quota_to_others(world: QueueWorld, queues: Queues):
    await world.queue("long")
    await run(world, "long")
    await world.queue("short", workers=1)
    await world.until(lambda: world.is_suspended("short"))
    await world.set_pod("long-worker-0", "Succeeded", exit_code=0)
    await run(world, "short", workers=1)
    free = world.workload("long")["status"]["reclaimablePods"]
    assert free == [{"name": "worker", "count": 1}]


async def test_a_job_that_another_cluster_runs_is_queued_here_and_has_no_pods(
    world: QueueWorld, queues: Queues
):
    await world.queue(managed_by="kueue.x-k8s.io/multikueue")
    await world.until(lambda: world.says("Admitted")[0] == "True")
    await world.until(lambda: world.job().spec.run_policy.suspend is False)
    assert world.pods() == {}
    assert world.job().status.conditions == [], "its status comes from where it runs"
    done = {"type": "Succeeded", "status": "True", "reason": "TestJobSucceeded", "message": "done there"}
    done["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    status = {"status": {"conditions": [done]}}
    await world.client.patch(ToyJob, "g", world.namespace, status, subresource="status")
    await world.until(lambda: world.says("Finished") == ("True", "Succeeded"))


async def test_a_workload_that_was_made_beforehand_becomes_the_jobs_own(world: QueueWorld, queues: Queues):
    await queues.stop("Hold")
    await world.queue("model")
    await world.until(lambda: world.workload("model"))
    spec = world.workload("model")["spec"]
    made = {
        "apiVersion": WORKLOAD.api_version,
        "kind": "Workload",
        "metadata": {"name": "ready-made", "namespace": world.namespace},
        "spec": spec,
    }
    await world.client.create(made, resource=WORKLOAD)
    await world.client.patch(WORKLOAD, world.workload("model")["metadata"]["name"], world.namespace, _OFF)
    await world.queue(labels={LABEL_QUEUE: "q", LABEL_PREBUILT: "ready-made"})
    await world.until(lambda: (seen := world.workload()) and seen["metadata"]["name"] == "ready-made")
    await queues.stop("None")
    await run(world)
    assert len(world.workloads()) == 1


async def test_a_job_that_is_deleted_needs_nobody_to_give_its_quota_back(world: QueueWorld, queues: Queues):
    """No finalizer is on its Workload, so it goes with the job: if that is forced, if no operator runs."""
    made = await world.queue("one")
    await run(world, "one")
    held = world.workload("one")["metadata"]
    assert "finalizers" not in held
    (owner,) = held["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == (made.uid, True)
    await world.queue("two")
    await world.until(lambda: world.is_suspended("two") and world.says("QuotaReserved", "two")[0] == "False")
    await world.client.delete(ToyJob, "one", world.namespace, grace_seconds=0)
    for name in list(world.pods("one")):
        await world.client.delete(POD, name, world.namespace, grace_seconds=0)
    await world.client.delete(WORKLOAD, held["name"], world.namespace)  # as the garbage collector does
    await run(world, "two")


async def test_a_job_without_a_queue_is_none_of_kueues_business(world: QueueWorld, queues: Queues):
    await world.queue(labels={})
    await run(world)
    assert world.workloads() == []


async def test_a_class_that_is_not_there_is_told_once_and_waited_for(world: QueueWorld, queues: Queues):
    missing = f"{world.namespace}-late"
    await world.queue(labels={LABEL_QUEUE: "q", LABEL_PRIORITY: missing})
    await world.until(lambda: world.events("ErrWorkloadCompose"))
    assert f"WorkloadPriorityClass {missing} is not there" in world.events("ErrWorkloadCompose")[0]["note"]
    await queues.priority("late", 5)
    await run(world)
    assert world.workload()["spec"]["priority"] == 5


_OFF = {"spec": {"active": False}}


def _workers(count: int) -> dict[str, object]:
    return {"spec": {"replicaSpecs": {"worker": {"replicas": count}}}}

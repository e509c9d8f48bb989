# SPDX-License-Identifier: Apache-2.0
"""Whole lives of jobs on a real API server; what needs only the plan is tested without one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dglop.common.constants import POD, SERVICE
from dglop.runtime.api import Resource
from dglop.testing.builders import pod_template
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.envtest.common.world import World

_QUOTA = Resource("", "v1", "ResourceQuota", "resourcequotas")


async def test_a_job_runs_from_creation_to_success(world: World):
    await world.submit()
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    for name in ("g-worker-0", "g-worker-1"):
        await world.set_pod(name, "Succeeded", exit_code=0)
    await world.until(lambda: world.is_true("Succeeded"))
    job = world.job()
    assert job.status.completion_time is not None
    assert job.status.replica_statuses["worker"].succeeded == 2
    assert {each.name for each in world.manager.cache.list(SERVICE, world.namespace)} == {
        "g-worker-0",
        "g-worker-1",
    }


async def test_a_gang_restarts_as_a_whole_and_counts_once(world: World):
    await world.submit(gang=True)
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    await world.set_pod("g-worker-1", "Failed", exit_code=137)
    await world.until(lambda: [each.attempt for each in world.pods().values()] == [2, 2])
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    assert world.job().status.restart_count == 1
    assert world.job().status.attempt == 2


async def test_a_pod_deleted_by_hand_is_made_anew_and_counted_once(world: World):
    await world.submit()
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    before = world.pods()["g-worker-0"].uid
    await world.client.delete(POD, "g-worker-0", world.namespace)
    await world.until(lambda: (pod := world.pods().get("g-worker-0")) and pod.uid != before)
    assert world.job().status.restart_count == 1


async def test_suspension_removes_all_pods_and_resumption_makes_new_ones(world: World):
    await world.submit()
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    suspend = {"spec": {"runPolicy": {"suspend": True}}}
    await world.client.patch(ToyJob, "g", world.namespace, suspend)
    await world.until(lambda: world.is_true("Suspended") and not world.pods())
    suspend["spec"]["runPolicy"]["suspend"] = False
    await world.client.patch(ToyJob, "g", world.namespace, suspend)
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    assert world.job().status.restart_count == 0


async def test_what_the_server_refuses_ends_the_job_in_its_words_and_a_healthy_job_goes_on(world: World):
    await world.submit("bad", template={"spec": {"containers": [{"name": "Not_A_Name", "image": "x"}]}})
    await world.submit("worse", template={"spec": {"containers": []}})
    await world.submit("typed", template={"spec": {"containers": [{"name": "main", "image": 7}]}})
    await world.submit("good", workers=1)
    for name in ("bad", "worse", "typed"):
        await world.until(partial(world.is_true, "Failed", name))
        failed = world.job(name).status.get("Failed")
        assert failed.reason == "InvalidSpec", failed
        assert world.job(name).status.completion_time is not None
    await world.run_all(1, "good")
    await world.set_pod("good-worker-0", "Succeeded", exit_code=0)
    await world.until(lambda: world.is_true("Succeeded", "good"))


async def test_a_foreign_pod_of_the_same_name_is_waited_out_and_not_touched(world: World):
    foreign = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "g-worker-0"}, **pod_template()}
    foreign["metadata"]["namespace"] = world.namespace
    made = await world.client.create(foreign)
    await world.submit()
    await world.until(lambda: (job := world.job()) and job.status.get("Running"))
    running = world.job().status.get("Running")
    assert (running.status, running.reason) == ("False", "ErrResourceExists")
    assert not world.is_true("Failed")
    assert (await world.client.get(POD, "g-worker-0", world.namespace))["metadata"]["uid"] == made[
        "metadata"
    ]["uid"]
    await world.client.delete(POD, "g-worker-0", world.namespace)
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))


async def test_a_quota_delays_a_job_and_does_not_fail_it(world: World):
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "none", "namespace": world.namespace},
        "spec": {"hard": {"pods": "0"}},
    }
    await world.client.create(quota)
    await world.client.patch(
        _QUOTA,
        "none",
        world.namespace,
        {"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}},
        subresource="status",
    )
    await world.submit(workers=1)
    await world.until(lambda: (job := world.job()) and job.status.get("Running"))
    running = world.job().status.get("Running")
    assert running.reason == "FailedCreatePod"
    assert "exceeded quota" in running.message
    assert world.job().status.reason == "FailedCreatePod"
    assert world.is_true("Created")
    await world.client.delete(_QUOTA, "none", world.namespace)
    await world.run_all(1)
    await world.until(lambda: world.is_true("Running"))


async def test_a_finished_job_is_deleted_when_its_ttl_is_over(world: World):
    await world.submit(workers=1, ttl_seconds_after_finished=1)
    await world.run_all(1)
    await world.set_pod("g-worker-0", "Succeeded", exit_code=0)
    await world.until(lambda: world.is_true("Succeeded"))
    await world.until(lambda: world.job() is None)


async def test_a_job_made_again_under_its_name_gets_pods_of_its_own(world: World):
    first = await world.submit(workers=1)
    await world.run_all(1)
    await world.client.delete(ToyJob, "g", world.namespace)
    await world.until(lambda: world.job() is None)
    second = await world.submit(workers=1)
    assert first.uid != second.uid
    await world.until(lambda: (job := world.job()) and job.status.get("Running"))
    # Nobody collects garbage here: the test is the garbage collector too.
    await world.client.delete(POD, "g-worker-0", world.namespace)
    await world.client.delete(SERVICE, "g-worker-0", world.namespace)
    owned = world.manager.cache
    await world.until(lambda: owned.list(POD, index=("controller", second.uid)))


async def test_many_jobs_at_once_get_each_pod_exactly_once(world: World):
    names = [f"j{number}" for number in range(12)]
    for name in names:
        await world.submit(name, workers=3)
    await world.until(lambda: all(len(world.pods(name)) == 3 for name in names))
    for name in names:
        await world.run_all(3, name)
    await world.until(lambda: all(world.is_true("Running", name) for name in names))
    metrics = world.manager.metrics.registry
    labels = {"job_namespace": world.namespace, "framework": "TestJob"}
    assert metrics.get_sample_value("created_pods_total", labels) == 36
    assert metrics.get_sample_value("training_operator_jobs_created_total", labels) == 12
    assert all(world.job(name).status.restart_count == 0 for name in names)


async def test_transitions_are_told_as_events(world: World):
    await world.submit(workers=1)
    await world.run_all(1)
    await world.until(lambda: world.is_true("Running"))
    await world.set_pod("g-worker-0", "Failed", exit_code=1)
    wanted = {"TestJobCreated", "TestJobRunning", "TestJobFailed"}
    await world.until(lambda: wanted == set(world.event_reasons()))


async def test_fields_of_a_template_that_no_pod_has_are_told_once_and_the_job_runs(world: World):
    template = pod_template()
    template["spec"]["tolerationz"] = []
    template["spec"]["containers"][0]["resourcs"] = {"limits": {"cpu": 1}}
    name = template["spec"]["containers"][0]["name"]
    await world.submit(template=template, gang=True)
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    await world.set_pod("g-worker-1", "Failed", exit_code=137)
    await world.until(lambda: [each.attempt for each in world.pods().values()] == [2, 2])
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    await world.until(lambda: "TemplateFieldIgnored" in world.event_reasons())
    (told,) = world.events("TemplateFieldIgnored")
    assert "series" not in told
    assert (told["type"], told["regarding"]["name"]) == ("Warning", "g")
    assert f"spec.containers{{{name}}}.resourcs" in told["note"]
    assert "spec.tolerationz" in told["note"]
    assert "template of worker" in told["note"]


async def test_a_resync_of_a_job_that_has_not_changed_writes_nothing(world: World):
    await world.submit()
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    (controller,), cache = world.manager.controllers, world.manager.cache
    await controller.queue.wait_idle()
    before = {kind: await _versions(world, kind) for kind in (ToyJob.resource, POD, SERVICE)}
    reconciled = world.reconciled()
    for informer in cache.informers:
        await informer.resync()
    await controller.queue.wait_idle()
    assert world.reconciled() > reconciled
    assert {kind: await _versions(world, kind) for kind in before} == before


async def _versions(world: World, kind: Resource) -> dict[str, str]:
    listed = [each["metadata"] for each in await world.client.list(kind, world.namespace)]
    return {each["name"]: each["resourceVersion"] for each in listed}


async def test_why_a_job_waits_is_shown_and_is_one_event_until_it_starts(world: World):
    await world.submit(workers=2)
    await world.until(lambda: len(world.pods()) == 2)
    for index, reason in enumerate(("ErrImagePull", "ImagePullBackOff", "ErrImagePull")):
        words = f"try {index}"
        await world.set_pod("g-worker-0", "Pending", waiting=reason, waiting_message=words)
        await world.until(partial(_says, world, words))
    assert world.job().status.reason == "ImagePullBackOff"
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    assert world.job().status.reason == ""
    await world.until(lambda: "TestJobRunning" in world.event_reasons())
    (told,) = world.events("ImagePullBackOff")
    assert (told["type"], told["note"]) == ("Warning", "try 0 (worker-0)")


def _says(world: World, words: str) -> bool:
    job = world.job()
    running = job.status.get("Running") if job else None
    return running is not None and words in running.message


async def test_what_keeps_pods_from_being_made_is_shown_before_what_keeps_others_waiting(world: World):
    name, limits = "one", {"hard": {"pods": "1"}}
    place = {"name": name, "namespace": world.namespace}
    await world.client.create(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": place, "spec": limits}
    )
    used = {"status": {**limits, "used": {"pods": "0"}}}
    await world.client.patch(_QUOTA, name, world.namespace, used, subresource="status")
    await world.submit(workers=2)
    await world.until(partial(_says, world, "exceeded quota"))
    (pod,) = world.pods()
    await world.set_pod(pod, "Pending", waiting="ErrImagePull")
    await world.client.delete(_QUOTA, name, world.namespace)
    await world.until(lambda: len(world.pods()) == 2)
    await world.until(lambda: world.job().status.reason == "ImagePullBackOff")
    await world.until(lambda: world.events("ImagePullBackOff"))
    await world.run_all(2)
    await world.until(lambda: "TestJobRunning" in world.event_reasons())
    assert len(world.events("ImagePullBackOff")) == 1

# SPDX-License-Identifier: Apache-2.0
"""What the Workload of a job says, and how it follows the job."""

from __future__ import annotations

from dglop.common import Gate
from dglop.common.kueue.manifest import Priority, priority_ref
from dglop.common.types import SchedulingPolicy
from dglop.testing.builders import pod_template
from dglop.testing.toyjob import ToyJobKind
from test.unit.common.queue_world import QUEUE, QueueWorld, running


def test_the_workload_has_a_pod_set_for_each_replica_type_and_belongs_to_the_job(queued):
    world = queued(roles={"Master": 1, "Worker": 3, "Idle": 0}, template=pod_template("main", "side"))
    wanted = [("master", 1), ("worker", 3)]
    assert [(each["name"], each["count"]) for each in world.workload["spec"]["podSets"]] == wanted
    metadata = world.workload["metadata"]
    assert metadata["ownerReferences"][0]["uid"] == world.job.uid
    assert metadata["labels"]["kueue.x-k8s.io/job-uid"] == world.job.uid
    assert metadata["name"].startswith("testjob-g-")
    spec = world.workload["spec"]["podSets"][0]["template"]["spec"]
    assert [each["name"] for each in spec["containers"]] == ["main", "side"]
    assert "hostname" not in spec, "it is none of one pod's own"


def test_the_time_that_was_run_is_added_up(queued):
    world = queued()
    world.admit()
    running(world)
    world.advance(90)
    world.evict()
    assert world.workload["status"]["accumulatedPastExecutionTimeSeconds"] == 90


def test_the_end_of_the_job_is_the_end_of_the_workload_and_told_once(queued):
    for phase, reason in (("Succeeded", "Succeeded"), ("Failed", "Failed")):
        world = queued()
        world.admit()
        running(world)
        for index in (0, 1):
            world.set_pod(index=index, phase=phase, exit_code=1)
        for _ in range(10):
            world.settle()
        assert world.says("Finished") == ("True", reason)
        assert world.queue_events.count("FinishedWorkload") == 1


def test_whether_the_pods_run_is_told_and_that_they_recover(queued):
    world = queued(gang=True)
    world.admit()
    assert world.says("PodsReady") == ("False", "WaitForStart")
    running(world)
    assert world.says("PodsReady") == ("True", "Started")
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.settle()
    assert world.says("PodsReady") == ("False", "WaitForRecovery")
    running(world)
    assert world.says("PodsReady") == ("True", "Recovered")
    world.evict()
    assert world.says("PodsReady") == ("False", "WaitForStart")


def test_finished_replicas_need_no_quota_any_more(queued):
    world = queued(workers=3)
    world.admit()
    running(world)
    world.set_pod(index=1, phase="Succeeded")
    world.settle()
    assert world.workload["status"]["reclaimablePods"] == [{"name": "worker", "count": 1}]


def test_in_a_gang_a_replica_that_would_run_again_keeps_its_quota(queued):
    world = queued(workers=3, gang=True)
    world.admit()
    running(world)
    world.set_pod(index=1, phase="Succeeded")
    world.settle()
    assert "reclaimablePods" not in world.workload["status"]


def test_a_role_that_a_gangs_restart_spares_gives_its_quota_back(queued):
    class Prepared(ToyJobKind):
        def restart_exempt(self, job, observed):
            return ["prepare"] if any(pod.is_succeeded for pod in observed.pods_of("prepare")) else []

        def phases(self, job, observed):
            done = any(pod.is_succeeded for pod in observed.pods_of("prepare"))
            return {"prepare": Gate.HOLD if done else Gate.OPEN}

    world = queued(kind=Prepared(), roles={"prepare": 1, "worker": 2}, gang=True, leader="worker")
    world.admit()
    running(world)
    world.set_pod("prepare", phase="Succeeded")
    world.settle()
    assert world.workload["status"]["reclaimablePods"] == [{"name": "prepare", "count": 1}]


def test_the_class_is_that_of_the_label_then_of_the_policy_then_of_a_template(make_job):
    job = make_job(scheduling_policy=SchedulingPolicy(priority_class="policy"))
    job.spec.replica_specs["worker"].template = pod_template(priorityClassName="template")
    job.metadata.labels = {"kueue.x-k8s.io/priority-class": "label"}
    found = []
    found.append(priority_ref(job, ToyJobKind()))
    job.metadata.labels = {}
    found.append(priority_ref(job, ToyJobKind()))
    job.spec.run_policy.scheduling_policy = None
    found.append(priority_ref(job, ToyJobKind()))
    assert [(each.name, each.is_of_workloads) for each in found] == [
        ("label", True),
        ("policy", False),
        ("template", False),
    ]


def test_priority_and_longest_time_are_stated(make_job):
    job = make_job()
    job.metadata.labels = {QUEUE: "q", "kueue.x-k8s.io/max-exec-time-seconds": "60"}
    world = QueueWorld(job, ToyJobKind())
    world.priority = Priority("high", 7, is_of_workloads=True)
    world.settle()
    spec = world.workload["spec"]
    ref = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
    assert (spec["priority"], spec["priorityClassRef"]) == (7, ref)
    assert spec["maximumExecutionTimeSeconds"] == 60


def test_another_queue_or_class_is_followed_while_the_job_waits(queued):
    world = queued()
    name = world.workload["metadata"]["name"]
    world.job.metadata.labels = {QUEUE: "other"}
    world.priority = Priority("low", 1)
    world.settle()
    assert list(world.workloads) == [name]
    assert world.workload["spec"]["queueName"] == "other"
    assert world.workload["spec"]["priorityClassRef"]["name"] == "low"


def test_other_replicas_change_the_workload_of_a_job_that_waits(queued):
    world = queued()
    uid = world.workload["metadata"]["uid"]
    world.job.spec.replica_specs["worker"].replicas = 5
    world.settle()
    assert world.workload["spec"]["podSets"][0]["count"] == 5
    assert world.workload["metadata"]["uid"] == uid


def test_other_replicas_of_a_job_that_runs_stop_it_and_queue_it_anew(queued):
    world = queued()
    world.admit()
    running(world)
    uid = world.workload["metadata"]["uid"]
    world._deletes_at_once = False
    world.job.spec.replica_specs["worker"].replicas = 5
    world.settle()
    assert world.workload["metadata"]["uid"] == uid, "pods still use its quota"
    world.finish_deletions()
    world.settle()
    assert world.workload["metadata"]["uid"] != uid
    assert world.workload["spec"]["podSets"][0]["count"] == 5
    assert world.pods == {}


def test_annotations_for_provisioning_are_passed_on(queued):
    kept = {"provreq.kueue.x-k8s.io/maxRunDurationSeconds": "60"}
    world = queued(annotations={**kept, "other": "x"})
    assert kept.items() <= world.workload["metadata"]["annotations"].items()
    assert "other" not in world.workload["metadata"]["annotations"]


def test_a_wish_for_topology_is_in_the_pod_set(queued):
    template = {**pod_template(), "metadata": {"annotations": {}}}
    template["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"] = "rack"
    world = queued(template=template)
    wish = world.workload["spec"]["podSets"][0]["topologyRequest"]
    assert wish == {"required": "rack", "podIndexLabel": "training.kubeflow.org/replica-index"}

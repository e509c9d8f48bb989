# SPDX-License-Identifier: Apache-2.0
"""What a queue means for a job: when its pods may run, where, and when its quota is free again."""

from __future__ import annotations

import copy

import pytest

from dglop.common import Gate
from dglop.common.kueue.manifest import Priority, priority_ref
from dglop.common.types import SchedulingPolicy
from dglop.testing.builders import pod_template
from dglop.testing.toyjob import ToyJobKind
from test.unit.common.queue_world import QueueWorld

QUEUE = "kueue.x-k8s.io/queue-name"


@pytest.fixture
def queued(make_job):
    def make(*, kind=None, labels=None, is_remote=False, annotations=None, **fields):
        job = make_job(**fields)
        job.metadata.labels = {QUEUE: "q"} if labels is None else labels
        job.metadata.annotations = annotations or {}
        world = QueueWorld(job, kind or ToyJobKind(), is_remote=is_remote)
        world.settle()
        return world

    return make


def running(world):
    world.run_all()
    world.settle()
    return world


def test_a_job_with_a_queue_waits_suspended_and_without_pods(queued):
    world = queued()
    assert world.conditions == {"Created": "True", "Suspended": "True"}
    assert (world.pods, world.services, world.suspensions) == ({}, {}, [True])
    assert world.workload["spec"]["queueName"] == "q"
    assert world.status.start_time is None
    assert "waits in queue q" in world.status.get("Suspended").message


def test_a_job_without_the_label_runs_at_once(queued):
    world = queued(labels={})
    assert (len(world.pods), world.workloads, world.suspensions) == (2, {}, [])


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


def test_a_job_that_waits_says_in_kueues_words_why(queued):
    world = queued()
    world.condition("QuotaReserved", False, "Pending", "insufficient unused quota for cpu")
    world.settle()
    assert world.status.get("Suspended").message.endswith("insufficient unused quota for cpu")
    assert [each.reason for each in world.events].count("TestJobSuspended") == 1


def test_reserved_quota_alone_starts_nothing(queued):
    world = queued()
    world.reserve()
    world.settle()
    assert (world.pods, world.suspensions) == ({}, [True])


def test_once_admitted_the_pods_go_where_the_flavor_says_and_the_spec_stays_the_users(queued):
    template = pod_template(nodeSelector={"disk": "ssd"}, tolerations=[{"key": "mine"}])
    world = queued(template=template)
    before = copy.deepcopy(world.job.spec.replica_specs)
    world.admit("a")
    spec, metadata = world.pod()["spec"], world.pod()["metadata"]
    assert spec["nodeSelector"] == {"disk": "ssd", "pool": "a"}
    assert spec["tolerations"] == [{"key": "mine"}, {"key": "pool", "operator": "Exists"}]
    assert metadata["labels"]["kueue.x-k8s.io/podset"] == "worker"
    assert metadata["labels"]["kueue.x-k8s.io/local-queue-name"] == "q"
    assert metadata["annotations"]["kueue.x-k8s.io/workload"] == world.workload["metadata"]["name"]
    assert world.job.spec.replica_specs == before
    assert world.suspensions == [True, False]
    assert world.queue_events == ["CreatedWorkload", "Started"]


def test_a_flavor_that_asks_for_nothing_leaves_no_trace_in_the_spec(queued):
    world = queued()
    world.admit("plain")
    assert {"nodeSelector", "tolerations", "schedulingGates"} & world.pod()["spec"].keys() == set()


def test_what_admission_checks_and_topology_say_comes_along(queued):
    world = queued()
    update = {"name": "worker", "labels": {"node-group": "7"}, "nodeSelector": {"group": "7"}}
    world.workload["status"]["admissionChecks"] = [{"name": "c", "state": "Ready", "podSetUpdates": [update]}]
    world.reserve()
    world.workload["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] = {"levels": ["host"]}
    world.condition("Admitted", True)
    world.settle()
    pod = world.pod()
    assert pod["spec"]["nodeSelector"] == {"pool": "a", "group": "7"}
    assert pod["metadata"]["labels"]["node-group"] == "7"
    assert pod["spec"]["schedulingGates"] == [{"name": "kueue.x-k8s.io/topology"}]
    assert pod["metadata"]["annotations"]["kueue.x-k8s.io/podset-unconstrained-topology"] == "true"


def test_eviction_suspends_and_gives_the_quota_back_when_the_last_pod_is_gone(queued):
    world = queued()
    world.admit()
    running(world)
    world._deletes_at_once = False
    world.evict()
    assert world.job.spec.run_policy.suspend is True
    assert world.conditions["Suspended"] == "True"
    assert all("deletionTimestamp" in pod["metadata"] for pod in world.pods.values())
    assert world.says("QuotaReserved") == ("True", "Because"), "pods still use it"
    world.finish_deletions()
    world.settle()
    assert world.says("QuotaReserved") == ("False", "Pending")
    assert world.says("Admitted") == ("False", "NoReservation")
    assert world.says("Requeued") == ("True", "Preempted")
    assert world.workload["status"]["admission"] is None
    assert world.status.restart_count == 0


def test_quota_is_kept_while_the_cache_may_not_show_a_pod(queued):
    world = queued()
    world.admit()
    world.unsettled = frozenset({"worker"})
    world.pods.clear()
    world.evict()
    assert world.says("QuotaReserved")[0] == "True"
    world.unsettled = frozenset()
    world.settle()
    assert world.says("QuotaReserved")[0] == "False"


def test_other_evictions_are_requeued_by_kueue_itself(queued):
    for reason, again in (("PodsReadyTimeout", "False"), ("NodeFailures", "True")):
        world = queued()
        world.admit()
        world.evict(reason)
        assert world.says("Requeued") == (again, reason)


def test_the_time_that_was_run_is_added_up(queued):
    world = queued()
    world.admit()
    running(world)
    world.advance(90)
    world.evict()
    assert world.workload["status"]["accumulatedPastExecutionTimeSeconds"] == 90


def test_after_another_flavor_nothing_of_the_first_one_is_left(queued):
    world = queued()
    world.admit("a")
    running(world)
    world.evict()
    world.admit("b")
    assert [pod["spec"]["nodeSelector"] for pod in world.pods.values()] == [{"pool": "b"}] * 2
    assert "tolerations" not in world.pod()["spec"]
    assert world.conditions["Suspended"] == "False"


def test_a_flavor_that_contradicts_the_template_ends_the_workload_and_starts_no_pod(queued):
    world = queued(template=pod_template(nodeSelector={"pool": "z"}))
    world.admit("a")
    assert (world.pods, world.says("Finished")) == ({}, ("True", "FailedToStart"))
    assert world.conditions["Suspended"] == "True"


def test_a_flavor_that_is_not_there_yet_is_waited_for(queued):
    world = queued()
    spec = world.flavors.pop("a")
    world.admit("a")
    assert (world.pods, world.suspensions) == ({}, [True])
    world.flavors["a"] = spec
    world.settle()
    assert len(world.pods) == 2


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


def test_a_job_at_rest_writes_nothing(queued):
    world = queued()
    world.admit()
    running(world)
    before = len(world.writes)
    for _ in range(5):
        world.settle()
    assert len(world.writes) == before


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


def test_a_job_that_runs_and_then_gets_a_queue_stops_first(queued):
    world = running(queued(labels={}))
    world.job.metadata.labels = {QUEUE: "q"}
    world.settle()
    assert (world.pods, world.conditions["Suspended"], len(world.workloads)) == ({}, "True", 1)
    world.admit()
    assert len(world.pods) == 2
    assert world.status.restart_count == 0


def test_a_job_cannot_leave_its_queue_with_the_quota_it_was_given(queued):
    world = queued()
    world.admit()
    running(world)
    world.job.metadata.labels = {}
    world.settle()
    assert (len(world.workloads), len(world.pods)) == (1, 2)
    world.evict()
    assert world.pods == {}
    world.settle()
    assert world.workloads == {}, "what gave its quota back may leave"


def test_a_workload_that_was_deleted_stops_the_job_which_is_queued_anew(queued):
    world = queued()
    world.admit()
    running(world)
    world.workloads.clear()
    world.settle()
    assert (world.pods, len(world.workloads), world.says("Admitted")) == ({}, 1, ("", ""))


def test_what_a_person_sets_suspend_to_is_overruled_by_the_queue(queued):
    world = queued()
    world.job.spec.run_policy.suspend = False
    world.settle()
    assert (world.pods, world.job.spec.run_policy.suspend) == ({}, True)
    world.admit()
    world.job.spec.run_policy.suspend = True
    world.settle()
    assert world.job.spec.run_policy.suspend is False
    assert len(world.pods) == 2


def test_a_job_that_another_cluster_runs_is_queued_and_nothing_else(queued):
    world = queued(is_remote=True, managed_by="kueue.x-k8s.io/multikueue")
    assert (len(world.workloads), world.conditions) == (1, {})
    world.admit()
    assert (world.pods, world.conditions, world.suspensions) == ({}, {}, [True, False])


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

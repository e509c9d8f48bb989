# SPDX-License-Identifier: Apache-2.0
"""What a queue means for a job: when its pods may run, where, and when its quota is free again."""

from __future__ import annotations

import copy

from dglop.testing.builders import pod_template
from test.unit.common.queue_world import QUEUE, running


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


def test_a_job_at_rest_writes_nothing(queued):
    world = queued()
    world.admit()
    running(world)
    before = len(world.writes)
    for _ in range(5):
        world.settle()
    assert len(world.writes) == before


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

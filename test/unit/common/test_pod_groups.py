# SPDX-License-Identifier: Apache-2.0
"""PodGroups in plans: when they are made, what they say, when they go, and whose pods wait for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dglop.common import Gate, JobReconciler, SchedulingPolicy
from dglop.common.gang import Gang, Group, SchedulerPlugins, Volcano, gang_scheduler
from dglop.common.plan import plan
from dglop.errors import ConfigError
from dglop.testing.builders import pod_template
from dglop.testing.simulation import Simulation
from dglop.testing.toyjob import ToyJobKind


def ask(**requests):
    template = pod_template()
    template["spec"]["containers"][0]["resources"] = {"requests": requests}
    return template


@pytest.fixture
def volcano(make_job):
    def make(*, kind=None, **fields):
        world = Simulation(make_job(**fields), kind or ToyJobKind(), gang=Volcano())
        world.settle()
        return world

    return make


class TwoPhases(ToyJobKind):
    """Prepares first, and trains when that is done; the boss comes when the workers run."""

    def phases(self, job, observed):
        done = any(pod.is_succeeded for pod in observed.pods_of("prepare"))
        ready = observed.ready("worker") == 2
        return {
            "worker": Gate.OPEN if done else Gate.HOLD,
            "prepare": Gate.HOLD if done else Gate.OPEN,
            "boss": Gate.OPEN if done and ready else Gate.HOLD,
        }

    def pod_groups(self, job):
        return (Group(("prepare",), suffix="prepare"), Group(("worker", "boss"), late=("boss",)))


ROLES = {"prepare": 1, "worker": 2, "boss": 1}


def test_no_pod_is_made_before_volcano_has_taken_up_the_group(volcano):
    world = volcano()
    assert (list(world.groups), world.pods) == (["g"], {})
    for phase in ("", "Pending"):
        world.set_group("g", phase)
        world.settle()
        assert world.pods == {}
    world.set_group("g", "Inqueue")
    world.settle()
    assert sorted(world.pods) == ["g-worker-0", "g-worker-1"]


def test_a_job_that_waits_for_its_group_says_why(volcano):
    world = volcano()
    running = world.status.get("Running")
    assert (running.status, running.reason) == ("False", "PodGroupPending")
    why = [{"type": "Unschedulable", "status": "True", "message": "queue resource quota insufficient"}]
    world.set_group("g", "Pending", conditions=why)
    world.settle()
    assert world.status.get("Running").message == "PodGroup g: queue resource quota insufficient"
    world.set_group("g", "Running")
    world.settle()
    world.run_all()
    world.settle()
    assert world.conditions["Running"] == "True"


def test_the_group_counts_all_pods_and_is_in_the_stated_queue(volcano):
    policy = SchedulingPolicy(queue="q1", priority_class="high")
    world = volcano(workers=3, template=ask(cpu="500m", memory="1Gi"), scheduling_policy=policy)
    group = world.groups["g"]
    assert group["apiVersion"] == "scheduling.volcano.sh/v1beta1"
    assert group["spec"] == {
        "minMember": 3,
        "minResources": {"cpu": "1500m", "memory": str(3 * 2**30)},
        "priorityClassName": "high",
        "queue": "q1",
    }
    assert group["metadata"]["ownerReferences"][0]["uid"] == world.job.uid


def test_without_a_stated_queue_it_is_the_one_of_the_annotation_or_the_default(make_job):
    for stated, queue in (({}, "default"), ({"scheduling.volcano.sh/queue-name": "q2"}, "q2")):
        job = make_job()
        job.metadata.annotations = {**stated, "kubectl.kubernetes.io/last-applied-configuration": "{}"}
        world = Simulation(job, ToyJobKind(), gang=Volcano())
        world.settle()
        assert world.groups["g"]["spec"]["queue"] == queue
        kept = world.groups["g"]["metadata"]["annotations"]
        assert kept == {**stated, "training.kubeflow.org/generation": "1"}


def test_pods_name_their_group_and_scheduler(volcano):
    world = volcano()
    world.set_group("g", "Inqueue")
    world.settle()
    pod = world.pod()
    assert pod["spec"]["schedulerName"] == "volcano"
    assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "g"
    assert pod["metadata"]["annotations"]["volcano.sh/task-spec"] == "worker"


def test_scheduler_plugins_get_group_and_pods_at_once(make_job):
    policy = SchedulingPolicy(schedule_timeout_seconds=30)
    world = Simulation(make_job(scheduling_policy=policy), ToyJobKind(), gang=SchedulerPlugins("mine"))
    world.settle()
    assert world.groups["g"]["apiVersion"] == "scheduling.x-k8s.io/v1alpha1"
    assert world.groups["g"]["spec"] == {"minMember": 2, "scheduleTimeoutSeconds": 30}
    assert world.creates == ["group/g", "g-worker-0", "g-worker-1"]
    assert world.pod()["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == "g"
    assert world.pod()["spec"]["schedulerName"] == "mine"


def test_a_scheduler_that_the_template_names_stays_and_is_warned_of(volcano):
    world = volcano(template=pod_template(schedulerName="theirs"))
    world.set_group("g", "Inqueue")
    world.settle()
    assert world.pod()["spec"]["schedulerName"] == "theirs"
    assert [each.reason for each in world.events].count("SetPodTemplateSchedulerName") == 1


def test_each_phase_has_a_group_of_its_own_that_counts_the_pods_of_that_phase(volcano):
    world = volcano(kind=TwoPhases(), roles=ROLES)
    assert {name: each["spec"]["minMember"] for name, each in world.groups.items()} == {"g-prepare": 1}
    world.set_group("g-prepare", "Inqueue")
    world.settle()
    world.set_pod("prepare", phase="Succeeded")
    world.settle()
    assert {name: each["spec"]["minMember"] for name, each in world.groups.items()} == {"g": 2}
    world.set_group("g", "Inqueue")
    world.settle()
    world.run_all()
    world.settle()
    group = "scheduling.k8s.io/group-name"
    groups = {name: pod["metadata"]["annotations"][group] for name, pod in world.pods.items()}
    assert groups == {"g-prepare-0": "g-prepare", "g-worker-0": "g", "g-worker-1": "g", "g-boss-0": "g"}


def test_ten_looks_after_the_end_delete_the_group_once_and_make_none(volcano):
    for phase in ("Succeeded", "Failed"):
        world = volcano()
        world.set_group("g", "Inqueue")
        world.settle()
        world.set_pod(index=0, phase=phase, exit_code=1)
        world.set_pod(index=1, phase=phase, exit_code=1)
        for _ in range(10):
            world.settle()
        assert world.conditions[phase] == "True"
        assert world.creates.count("group/g") == 1
        assert world.deletes.count("group/g") == 1
        assert [each.reason for each in world.events].count(f"TestJob{phase}") == 1


def test_suspension_deletes_the_group_and_resumption_queues_anew(volcano):
    world = volcano()
    world.set_group("g", "Inqueue")
    world.settle()
    world.job.spec.run_policy.suspend = True
    world.settle()
    assert (world.groups, world.pods) == ({}, {})
    world.job.spec.run_policy.suspend = False
    world.settle()
    assert (list(world.groups), world.pods) == (["g"], {})


def test_a_job_created_suspended_has_no_group(volcano):
    assert volcano(suspend=True).groups == {}


def test_a_changed_spec_changes_the_group_but_not_its_queue(volcano):
    world = volcano()
    world.groups["g"]["spec"]["queue"] = "moved"
    world.job.spec.replica_specs["worker"].replicas = 4
    world.job.metadata.generation = 2
    world.settle()
    assert world.groups["g"]["spec"]["minMember"] == 4
    assert world.groups["g"]["spec"]["queue"] == "moved"
    assert world.creates == ["group/g", "group/g"]


def test_nothing_is_written_twice_while_the_cache_lags(volcano):
    world = volcano()
    lagging = replace(world.observed(), gang=Gang(Volcano(), is_settled=False))
    made = plan(world.job, lagging, world.now, world.kind)
    assert (made.groups, made.delete_groups, made.creates) == ((), (), ())


def test_while_groups_are_not_watched_no_pod_is_made_in_either_scheduler(make_job):
    for scheduler in (Volcano(), SchedulerPlugins()):
        world = Simulation(make_job(), ToyJobKind(), gang=scheduler)
        unwatched = replace(world.observed(), gang=Gang(scheduler, is_watched=False))
        made = plan(world.job, unwatched, world.now, world.kind)
        assert ([each.name for each in made.groups], made.creates) == (["g"], ())


def test_a_pod_that_is_lost_while_the_group_runs_is_made_anew(volcano):
    world = volcano(gang=True)
    world.set_group("g", "Running")
    world.settle()
    world.run_all()
    world.settle()
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.settle()
    assert world.status.attempt == 2
    assert len(world.pods) == 2
    assert world.creates.count("group/g") == 1


def test_least_pods_are_as_stated_and_those_of_the_highest_priority_are_reckoned_first(make_job):
    job = make_job(roles={"worker": 2, "boss": 1}, scheduling_policy=SchedulingPolicy(min_available=2))
    job.spec.replica_specs["worker"].template = ask(cpu="1")
    job.spec.replica_specs["boss"].template = ask(cpu="4")
    job.spec.replica_specs["boss"].template["spec"]["priorityClassName"] = "high"
    world = Simulation(job, ToyJobKind(), gang=Volcano())
    world.priorities = {"high": 1000}
    world.settle()
    assert world.groups["g"]["spec"]["minMember"] == 2
    assert world.groups["g"]["spec"]["minResources"] == {"cpu": "5"}
    assert world.groups["g"]["spec"]["priorityClassName"] == "high"


def test_stated_resources_are_taken_as_they_are(volcano):
    policy = SchedulingPolicy.model_validate({"minResources": {"nvidia.com/gpu": 8}})
    assert volcano(scheduling_policy=policy).groups["g"]["spec"]["minResources"] == {"nvidia.com/gpu": "8"}


def test_more_pods_than_there_are_cannot_be_asked_for(volcano):
    world = volcano(scheduling_policy=SchedulingPolicy(min_available=3))
    failed = world.status.get("Failed")
    assert (failed.status, failed.reason) == ("True", "InvalidSpec")
    assert "the job has 2 pods" in failed.message
    assert world.groups == {}


def test_without_a_gang_scheduler_a_policy_for_it_changes_nothing_and_is_warned_of(make_job):
    world = Simulation(make_job(scheduling_policy=SchedulingPolicy(queue="q")), ToyJobKind())
    world.settle()
    assert (world.groups, len(world.pods)) == ({}, 2)
    assert [each.reason for each in world.events].count("SchedulingPolicyIgnored") == 1
    assert "schedulerName" not in world.pod()["spec"]


def test_a_scheduler_is_chosen_by_its_name():
    assert gang_scheduler("none") is None
    assert gang_scheduler("volcano", "mine").scheduler_name == "mine"
    assert gang_scheduler("scheduler-plugins").scheduler_name == "scheduler-plugins-scheduler"
    with pytest.raises(ConfigError, match="none, volcano, scheduler-plugins"):
        gang_scheduler("slurm")


def test_a_kind_whose_replica_types_start_late_has_to_say_which_run_together():
    class Late(ToyJobKind):
        def phases(self, job, observed):
            return {}

    class Told(Late):
        def pod_groups(self, job):
            return (Group(("worker",)),)

    JobReconciler(Late())
    JobReconciler(Told(), gang=Volcano())
    with pytest.raises(ConfigError, match="Late has phases"):
        JobReconciler(Late(), gang=Volcano())

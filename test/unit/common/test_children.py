# SPDX-License-Identifier: Apache-2.0
"""Names, labels, what pods are made of, scale and specs that cannot be run."""

from __future__ import annotations

import pytest

from dglop.common import RestartPolicy, default_env, set_env
from dglop.common.plan import fail_plan
from dglop.common.stuck import PATIENCE
from dglop.runtime.api.rawpod import RawPod
from dglop.runtime.api.times import format_time
from dglop.testing.builders import pod_template
from dglop.testing.simulation import Simulation
from dglop.testing.toyjob import ToyJobKind


class HeadlessKind(ToyJobKind):
    def services(self, job):
        return None


def test_a_pod_has_a_fixed_name_labels_owner_and_dns_name(simulate):
    world = simulate(roles={"Worker": 1})
    pod = world.pod()
    assert pod["metadata"]["name"] == "g-worker-0"
    assert pod["metadata"]["labels"] == {
        "training.kubeflow.org/operator-name": "testjob-controller",
        "training.kubeflow.org/job-name": "g",
        "training.kubeflow.org/replica-type": "worker",
        "training.kubeflow.org/replica-index": "0",
        "training.kubeflow.org/job-role": "worker",
        "training.kubeflow.org/attempt": "1",
    }
    (owner,) = pod["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == ("uid-g", True, True)
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("g-worker-0", "g")
    assert pod["metadata"]["annotations"]["example.dev/meets-at"] == "g-worker-0.g.t.svc"


def test_the_selector_in_the_status_selects_the_pods(simulate):
    world = simulate(roles={"Worker": 1})
    selector = world.status.replica_statuses["Worker"].selector
    labels = world.pod()["metadata"]["labels"]
    assert all(labels[key] == value for key, value in (each.split("=") for each in selector.split(",")))


def test_one_headless_service_serves_pods_that_are_not_ready(simulate):
    world = simulate(kind=HeadlessKind())
    (service,) = world.services.values()
    assert service["metadata"]["name"] == "g"
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    labels = world.pod()["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


def test_labels_of_the_template_are_kept_and_ours_win(simulate):
    template = pod_template()
    template["metadata"] = {"labels": {"team": "x", "training.kubeflow.org/job-name": "other"}}
    world = simulate(workers=1, template=template)
    labels = world.pod()["metadata"]["labels"]
    assert (labels["team"], labels["training.kubeflow.org/job-name"]) == ("x", "g")


def test_an_unquoted_number_of_gpus_is_made_text(simulate):
    template = pod_template()
    template["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    world = simulate(workers=1, template=template)
    assert world.pod()["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1"}
    assert template["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": 1}


@pytest.mark.parametrize(
    ("policy", "pod_policy"),
    [
        (RestartPolicy.EXIT_CODE, "Never"),
        (RestartPolicy.ON_FAILURE, "OnFailure"),
        (RestartPolicy.ALWAYS, "Always"),
        (RestartPolicy.NEVER, "Never"),
    ],
)
def test_a_pod_gets_the_restart_policy_that_the_kubelet_knows(simulate, policy, pod_policy):
    assert simulate(restart=policy).pod()["spec"]["restartPolicy"] == pod_policy


def test_a_restart_policy_in_the_template_is_replaced_and_said_once(simulate):
    world = simulate(template=pod_template(restartPolicy="Always"))
    assert world.pod()["spec"]["restartPolicy"] == "Never"
    assert [event.reason for event in world.events].count("SetPodTemplateRestartPolicy") == 1


def test_scale_down_deletes_what_is_out_of_range_and_counts_no_failure(simulate):
    world = simulate(workers=4)
    world.run_all()
    world.settle()
    world.job.spec.replica_specs["worker"].replicas = 2
    world.settle()
    assert sorted(world.deletes) == ["g-worker-2", "g-worker-3", "service/g-worker-2", "service/g-worker-3"]
    assert world.status.replica_statuses["worker"].active == 2
    assert world.status.restart_count == 0


def test_a_terminating_pod_out_of_range_may_exit_137_without_harm(simulate):
    world = simulate(workers=4, deletes_at_once=False)
    world.run_all()
    world.settle()
    world.job.spec.replica_specs["worker"].replicas = 2
    world.settle()
    world.pod(index=3)["status"] = {
        "phase": "Failed",
        "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 137}}}],
    }
    world.settle()
    assert world.status.restart_count == 0


def test_a_gap_above_the_range_is_not_filled(simulate):
    world = simulate(workers=5)
    for index in range(4):
        del world.pods[f"g-worker-{index}"]
    world.job.spec.replica_specs["worker"].replicas = 1
    world.job.status.replica_statuses["worker"].created_indexes = ""
    creates = list(world.creates)
    made = world.step()
    assert [each.name for each in made.delete_pods] == ["g-worker-4"]
    assert [each.name for each in made.creates] == ["g-worker-0"]
    assert world.creates[: len(creates)] == creates


def test_a_pod_whose_index_is_no_number_is_deleted_and_harms_nothing(simulate):
    world = simulate()
    world.pod(index=1)["metadata"]["labels"]["training.kubeflow.org/replica-index"] = "x"
    world.settle()
    assert sorted(world.pods) == ["g-worker-0", "g-worker-1"]


@pytest.mark.parametrize(("length", "runs"), [(52, True), (53, False)])
def test_a_name_is_refused_by_the_longest_child_that_it_would_have(make_job, length, runs):
    world = Simulation(make_job(name="a" * length, workers=1000), ToyJobKind())
    world.step()
    failed = world.status.get("Failed")
    assert (failed is None) == runs
    if failed:
        assert failed.reason == "InvalidSpec"
        assert f"{'a' * length}-worker-999" in failed.message
        assert "at least 1 shorter" in failed.message


@pytest.mark.parametrize("name", ["1st", "Upper", "dot.ted", "trailing-"])
def test_a_name_that_no_service_can_have_is_refused(make_job, name):
    world = Simulation(make_job(name=name), ToyJobKind())
    world.settle()
    assert world.status.get("Failed").reason == "InvalidSpec"


@pytest.mark.parametrize("containers", ["main", [1], {"name": "main"}])
def test_a_template_that_is_none_ends_the_job_and_not_the_operator(make_job, containers):
    world = Simulation(make_job(template={"spec": {"containers": containers}}), ToyJobKind())
    world.settle()
    failed = world.status.get("Failed")
    assert failed.reason == "InvalidSpec"
    assert "worker.template" in failed.message
    assert world.status.completion_time == world.now
    assert world.pods == {}
    assert world.wakes_at is None
    assert world.conditions == {"Created": "True", "Failed": "True"}


def test_a_child_that_the_server_refuses_ends_the_job_in_the_servers_words(simulate):
    world = simulate()
    made = fail_plan(world.job, world.observed(), world.now, world.kind, "spec.containers: Required value")
    failed = made.status.get("Failed")
    assert (failed.reason, failed.message) == ("InvalidSpec", "spec.containers: Required value")
    assert made.status.completion_time == world.now


class SecretiveKind(ToyJobKind):
    def extra_objects(self, job):
        return [
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"{job.name}-{job.uid}"}},
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "kept", "ownerReferences": []},
            },
        ]


def test_objects_of_the_kind_come_before_the_pods_and_belong_to_the_job(make_job):
    world = Simulation(make_job(), SecretiveKind())
    made = world.step()
    secret, claim = made.objects
    assert secret["metadata"]["ownerReferences"][0]["uid"] == "uid-g"
    assert secret["metadata"]["namespace"] == "t"
    assert claim["metadata"]["ownerReferences"] == []
    assert len(made.creates) == 2


def wait_for_volumes(world, reason="", message=""):
    for pod in world.pods.values():
        scheduled = {"type": "PodScheduled", "status": "False" if reason else "True"}
        scheduled |= {"reason": reason, "message": message, "lastTransitionTime": format_time(world.now)}
        pod["status"] = {"phase": "Pending", "conditions": [scheduled]}


def test_objects_are_asked_for_again_where_a_pod_with_a_node_does_not_start_for_long(simulate):
    world = simulate(kind=SecretiveKind())
    wait_for_volumes(world)
    made = world.step()
    assert (made.objects, made.recheck, made.requeue_after) == ((), False, PATIENCE)
    world.now += PATIENCE
    made = world.step()
    assert [each["kind"] for each in made.objects] == ["Secret", "PersistentVolumeClaim"]
    assert (made.recheck, made.requeue_after) == (True, PATIENCE)


@pytest.mark.parametrize(
    ("words", "asked"),
    [('persistentvolumeclaim "kept" not found', True), ("0/3 nodes are available: Insufficient cpu", False)],
)
def test_objects_are_asked_for_again_where_a_pod_has_no_node_for_want_of_its_claim(simulate, words, asked):
    world = simulate(kind=SecretiveKind())
    wait_for_volumes(world, "Unschedulable", words)
    world.now += PATIENCE
    assert world.step().recheck is asked


def test_objects_are_not_asked_for_where_pods_have_their_volumes_and_pull_their_image(simulate):
    world = simulate(kind=SecretiveKind())
    wait_for_volumes(world)
    for pod in world.pods.values():
        pod["status"]["conditions"].append({"type": "PodReadyToStartContainers", "status": "True"})
    world.now += PATIENCE
    made = world.step()
    assert (made.recheck, made.requeue_after) == (False, None)


def test_set_env_replaces_and_default_env_respects_what_the_user_wrote():
    pod = RawPod(pod_template())
    pod.containers[0].env.set("A", "user")
    set_env(pod, A="ours", B="ours")
    default_env(pod, B="other", C="default")
    env = {each["name"]: each["value"] for each in pod.data["spec"]["containers"][0]["env"]}
    assert env == {"A": "ours", "B": "ours", "C": "default"}


def test_set_env_on_a_pod_without_containers_does_nothing():
    pod = RawPod({})
    set_env(pod, A="x")
    assert pod.containers == []


def test_the_plan_neither_changes_the_job_nor_depends_on_anything_else(simulate):
    from dglop.common.plan import plan

    world = simulate()
    world.set_pod(phase="Failed", exit_code=137)
    before = world.job.to_wire()
    first = plan(world.job, world.observed(), world.now, world.kind)
    second = plan(world.job, world.observed(), world.now, world.kind)
    assert world.job.to_wire() == before
    assert first == second


def test_an_upgraded_operator_restarts_nothing_though_it_would_build_pods_otherwise(simulate):
    class NewerKind(ToyJobKind):
        def configure(self, pod, replica):
            pod.annotations["example.dev/version"] = "2"

    world = simulate()
    world.run_all()
    world.settle()
    world.kind = NewerKind()
    made = world.step()
    assert (made.creates, made.delete_pods) == ((), ())

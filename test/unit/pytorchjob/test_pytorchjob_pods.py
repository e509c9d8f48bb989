# SPDX-License-Identifier: Apache-2.0
"""What the pods of a PyTorchJob are told: the names and values of the training operator."""

from __future__ import annotations

from typing import Any

import pytest

from test.unit.pytorchjob.pytorch_world import env_of, make_job, role, simulate

_PORT = {"name": "pytorchjob-port", "containerPort": 29501}


def _with_port(port: dict[str, Any]) -> dict[str, Any]:
    made = role()
    made["template"]["spec"]["containers"][0]["ports"] = [port]
    return made


def test_every_pod_is_told_where_the_master_is_how_many_they_are_and_which_it_is() -> None:
    world = simulate()
    common = {
        "PYTHONUNBUFFERED": "1",
        "MASTER_ADDR": "g-master-0.g.t.svc",
        "MASTER_PORT": "23456",
        "WORLD_SIZE": "3",
        "PET_MASTER_ADDR": "g-master-0.g.t.svc",
        "PET_MASTER_PORT": "23456",
        "PET_NNODES": "3",
        "PET_NPROC_PER_NODE": "auto",
    }
    ranks = {("Master", 0): "0", ("Worker", 0): "1", ("Worker", 1): "2"}
    for (kind, index), rank in ranks.items():
        assert env_of(world, kind, index) == {**common, "RANK": rank, "PET_NODE_RANK": rank}


@pytest.mark.parametrize(("per_node", "world_size"), [("auto", "3"), ("gpu", "3"), ("4", "12")])
def test_the_world_counts_processes_where_their_number_is_stated(per_node: str, world_size: str) -> None:
    found = env_of(simulate(nprocPerNode=per_node), "Worker")
    assert (found["WORLD_SIZE"], found["PET_NPROC_PER_NODE"]) == (world_size, per_node)


def test_without_a_master_the_first_worker_is_where_the_others_meet() -> None:
    world = simulate(master=0, workers=2)
    assert world.creates == ["g-worker-0", "g-worker-1"]
    found = env_of(world, "Worker", 1)
    assert (found["MASTER_ADDR"], found["RANK"], found["WORLD_SIZE"]) == ("g-worker-0.g.t.svc", "1", "2")


def test_a_job_without_a_master_may_say_itself_where_its_pods_meet_and_one_with_a_master_may_not() -> None:
    mine = {"name": "MASTER_ADDR", "value": "store.example"}
    for master, found in ((0, "store.example"), (1, "g-master-0.g.t.svc")):
        job = make_job(master=master)
        job.spec.pytorch_replica_specs["Worker"].template["spec"]["containers"][0]["env"] = [mine]
        assert env_of(simulate(job), "Worker")["MASTER_ADDR"] == found


def test_the_template_of_the_master_may_choose_the_port() -> None:
    world = simulate(make_job(pytorchReplicaSpecs={"Master": _with_port(_PORT), "Worker": role(1)}))
    assert env_of(world, "Worker")["MASTER_PORT"] == "29501"
    assert world.pod("Master")["spec"]["containers"][0]["ports"] == [_PORT]
    [added] = world.pod("Worker")["spec"]["containers"][0]["ports"]
    assert (added["name"], added["containerPort"]) == ("pytorchjob-port", 23456)


def test_sidecars_are_told_the_same_and_the_container_named_pytorch_decides() -> None:
    world = simulate(make_job(pytorchReplicaSpecs={"Master": role(1, "proxy", "pytorch")}))
    assert env_of(world, "Master", container=0)["RANK"] == env_of(world, "Master", container=1)["RANK"] == "0"
    annotations = world.pod("Master")["metadata"]["annotations"]
    assert annotations["kubectl.kubernetes.io/default-container"] == "pytorch"
    world.run_all()
    world.settle()
    world.set_pod("Master", phase="Succeeded")
    world.settle()
    assert world.conditions["Succeeded"] == "True"


def test_the_pods_have_the_labels_of_the_training_operator_and_one_headless_service() -> None:
    world = simulate(workers=1)
    labels = world.pod("Worker")["metadata"]["labels"]
    assert labels == {
        "training.kubeflow.org/operator-name": "pytorchjob-controller",
        "training.kubeflow.org/job-name": "g",
        "training.kubeflow.org/job-role": "worker",
        "training.kubeflow.org/replica-type": "worker",
        "training.kubeflow.org/replica-index": "0",
        "training.kubeflow.org/attempt": "1",
    }
    assert list(world.services) == ["g"]
    assert not world.objects, "a PyTorchJob needs nothing but pods and their Service"

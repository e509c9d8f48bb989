# SPDX-License-Identifier: Apache-2.0
"""Modes, placements and storage that do not go together: each gets a sentence that says what to write."""

from __future__ import annotations

import pytest

from dglop.dgljob import DGLJobKind, KindOptions, Tokens
from test.unit.dgljob.dgljob_world import World, make_job, template

WORKERS = {"Worker": {"replicas": 2, "template": template()}}
CLAIM = {"type": "PVC", "claimName": "parts"}
EXISTING = {"partitionMode": "Skip", "storage": {**CLAIM, "existing": True}}
FOLDER = {"type": "HostPath", "hostPath": "/srv/parts"}


def with_roles(**roles):
    return {"specs": {**WORKERS, **roles}}


def placed(where, **spec):
    return {"partition": {"placement": where}, "storage": CLAIM, **spec}


LAUNCHER = {"Launcher": {"template": template()}}
SIDECAR = template()
SIDECAR["spec"]["containers"].append({"name": "logs", "image": "i"})

CASES = {
    **{
        f"parts under {mode}": ({"partitionMode": mode, "numPartitions": 3}, "numPartitions 3 must match")
        for mode in ("SSP", "SMP", "MSP", "DGL-API", "ParMETIS")
    },
    "parts on existing ones": ({**EXISTING, "numPartitions": 3}, "leave numPartitions out or write 2"),
    "METIS of many pods": (
        {"partitionMode": "MSP", "partition": {"method": "metis"}},
        "method metis does not go with partitionMode MSP: use parallel, random, given, or partitionMode SMP",
    ),
    "PT-Scotch of one process": (
        {"partition": {"method": "ptscotch"}},
        "ptscotch does not go with partitionMode SSP: use metis, random, or partitionMode SMP",
    ),
    "a method of nobody": ({**EXISTING, "partition": {"method": "random"}}, "Skip: leave it out"),
    "METIS by another's name": (
        {"partitionMode": "ParMETIS", "partition": {"method": "metis"}},
        "method metis is not that of partitionMode ParMETIS: use SMP, or leave it out",
    ),
    "given by nobody": (
        {"partitionMode": "SMP", "partition": {"method": "given"}},
        "partition.method given and partition.partIds",
    ),
    "given and not wanted": (
        {"partitionMode": "SMP", "partition": {"partIds": "/raw/parts.csv"}},
        "state both or neither",
    ),
    "MSP with Partitioner": (
        {"partitionMode": "MSP", **with_roles(Partitioner={"template": template()})},
        "partitionMode MSP has no Partitioner: the Workers make their parts themselves; remove",
    ),
    "MSP without data": ({"partitionMode": "MSP", "dataset": None}, "MSP needs dataset.url or dataset.name"),
    "MSP and pull": ({"partitionMode": "MSP", "dispatch": {"mode": "Pull"}}, "not go with partitionMode MSP"),
    "skip with partitioner": ({**EXISTING, **with_roles(Partitioner={})}, "Skip has no Partitioner"),
    "processes of SSP": ({"partition": {"processes": 2}}, "processes is for partitionMode SMP, not SSP"),
    "placement of MSP": (placed("Worker", partitionMode="MSP"), "is for partitionMode SSP and SMP, not MSP"),
    "nothing to leave parts on": (
        placed("Worker", storage={"type": "EmptyDir"}),
        "partition.placement Worker needs storage.type PVC",
    ),
    "no launcher": (placed("Launcher"), "needs dglReplicaSpecs.Launcher, in whose pod it partitions"),
    "worker-0 beside a partitioner": (
        placed("Worker", **with_roles(Partitioner={"template": template()})),
        "partition.placement Worker has no Partitioner",
    ),
    "a sidecar of an init container": (
        placed("Launcher", **with_roles(**LAUNCHER, Partitioner={"template": SIDECAR})),
        "has the containers logs beside the main one",
    ),
    "an init container without command": (
        placed("Launcher", **with_roles(**LAUNCHER, Partitioner={"template": template(command=None)})),
        "must state command",
    ),
    "an init container of text": (
        placed("Launcher", **with_roles(**LAUNCHER, Partitioner={"template": {"spec": "x"}})),
        "dglReplicaSpecs.Partitioner.template.spec must be an object",
    ),
    "nobody says how": (placed("Launcher", dataset=None, **with_roles(**LAUNCHER)), "nobody says how"),
    "folder is off": ({"storage": FOLDER}, "storage.type HostPath is turned off"),
    "folder without type": ({"storage": {"hostPath": "/srv"}}, "hostPath needs storage.type HostPath"),
}  # fmt: skip


def failed(world):
    world.settle()
    found = world.job.status.get("Failed")
    assert found is not None
    assert found.reason == "InvalidSpec"
    assert not world.created
    return found.message


@pytest.mark.parametrize(("spec", "sentence"), CASES.values(), ids=CASES.keys())
def test_a_mistake_ends_the_job_with_a_sentence(spec, sentence):
    assert sentence in failed(World(make_job(**spec)))


def test_two_templates_that_mean_different_things_by_one_name_cannot_share_a_pod():
    launcher, partitioner = template(), template()
    launcher["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}]
    partitioner["spec"]["volumes"] = [{"name": "data", "hostPath": {"path": "/srv"}}]
    roles = with_roles(Launcher={"template": launcher}, Partitioner={"template": partitioner})
    assert "volume 'data' is another one" in failed(World(make_job(**placed("Launcher", **roles))))
    launcher["spec"]["volumes"] = partitioner["spec"]["volumes"]
    for each in (launcher, partitioner):
        each["spec"]["initContainers"] = [{"name": "prepare", "image": "i"}]
    assert "has the name 'prepare' too" in failed(World(make_job(**placed("Launcher", **roles))))


def on_nodes():
    return DGLJobKind(KindOptions(Tokens(b"k" * 32), "operator:test", allow_host_path=True))


@pytest.mark.parametrize(
    ("storage", "sentence"),
    [
        ({"type": "HostPath"}, "needs storage.hostPath"),
        ({"type": "HostPath", "hostPath": "/srv/../etc"}, "storage.hostPath may not contain '..'"),
    ],
)
def test_a_folder_of_the_nodes_must_be_one(storage, sentence):
    assert sentence in failed(World(make_job(storage=storage), on_nodes()))


def test_all_pods_mount_the_nodes_folder_where_the_operator_lets_them():
    world = World(make_job(storage=FOLDER), on_nodes())
    world.partition()
    assert [each["name"] for each in world.pods["g-partitioner-0"]["spec"]["containers"]] == ["dgl"]
    for pod in world.pods.values():
        sources = [each for each in pod["spec"]["volumes"] if each["name"] == "dglop-parts"]
        folder = {"path": "/srv/parts", "type": "DirectoryOrCreate"}
        assert sources == [{"name": "dglop-parts", "hostPath": folder}]
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")


def test_workers_train_on_parts_that_lie_in_a_folder_of_the_nodes():
    world = World(make_job(partitionMode="Skip", storage={**FOLDER, "existing": True}), on_nodes())
    world.settle()
    assert world.created == ["g-worker-0", "g-worker-1"]

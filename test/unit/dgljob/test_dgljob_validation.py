# SPDX-License-Identifier: Apache-2.0
"""Mistakes in a spec: each gets a sentence that says what to write, and ends the job as InvalidSpec."""

from __future__ import annotations

import pytest

from dglop.dgljob.validation import problems
from test.unit.dgljob.dgljob_world import World, make_job, template

WORKERS = {"Worker": {"replicas": 2, "template": template()}}
CLAIM = {"type": "PVC", "claimName": "parts"}


def with_main(**main):
    return {"specs": {"Worker": {"replicas": 2, "template": template(**main)}}}


def with_spec(**spec):
    return {"specs": {"Worker": {"replicas": 2, "template": {"spec": spec}}}}


def with_roles(**roles):
    return {"specs": {**WORKERS, **roles}}


CASES = {
    "Exec is not built": ({"launchMode": "Exec"}, "launchMode Exec is not built yet; use Direct"),
    "MPI is not built": ({"launchMode": "MPI"}, "launchMode MPI is not built yet"),
    "layout": ({"trainingLayout": "TriWorkload"}, "trainingLayout TriWorkload is not built yet"),
    "restart scope": ({"restartScope": "Replica"}, "restartScope Replica does not go"),
    "dispatch by exec": ({"dispatch": {"mode": "Exec"}}, "dispatch.mode Exec is not built yet"),
    "two rules of a name": (
        {"failureRules": [{"name": "x", "action": "Fail"}] * 2},
        "failureRules has 'x' twice; give each rule a name of its own",
    ),
    "a rule for nobody": (
        {"failureRules": [{"name": "x", "action": "Fail", "targetReplicas": ["Driver"]}]},
        "failureRules 'x': targetReplicas names Driver; the job has Partitioner, Worker",
    ),
    "elastic": ({"elasticPolicy": {"min": 1}}, "elasticPolicy is reserved"),
    "unknown role": (with_roles(Driver={"template": template()}), "dglReplicaSpecs has Driver"),
    "server role": (with_roles(Server={"template": template()}), "needs trainingLayout TriWorkload"),
    "no workers": ({"specs": {"Launcher": {"template": template()}}}, "needs dglReplicaSpecs.Worker"),
    "two launchers": (with_roles(Launcher={"replicas": 2, "template": template()}), "one is allowed"),
    "two partitioners": (
        with_roles(Partitioner={"replicas": 2, "template": template()}),
        "one pod partitions",
    ),
    "skip alone": ({"partitionMode": "Skip"}, "needs storage.existing: true"),
    "existing without skip": (
        {"storage": {**CLAIM, "existing": True}},
        "storage.existing needs partitionMode",
    ),
    "claim without name": ({"storage": {"type": "PVC"}}, "exactly one of storage.claimName"),
    "boundless shm": ({"shmSize": "1e999999999"}, "shmSize: '1e999999999' is no resource quantity"),
    "boundless memory": (
        with_main(resources={"limits": {"memory": "1e800000"}}),
        "resources.limits.memory: '1e800000' is no resource quantity",
    ),
    "name without claim": ({"storage": {"claimName": "x"}}, "need storage.type PVC"),
    "claim's name": (
        {"storage": {"type": "PVC", "claimName": "Not A Name!"}},
        "storage.claimName 'Not A Name!' is no name of an object",
    ),
    "claim without letters": ({"storage": {**CLAIM, "claimName": ""}}, "storage.claimName '' is no name"),
    "output's name": ({"output": {"claimName": "a..b"}}, "output.claimName 'a..b' is no name of an object"),
    "secret's name": (
        {"dataset": {"name": "digits", "secretRef": {"name": "-s"}}},
        "dataset.secretRef.name '-s' is no name of an object",
    ),
    "volume without claim": ({"dispatch": {"mode": "Volume"}}, "dispatch.mode Volume needs storage.type PVC"),
    "pull with claim": ({"dispatch": {"mode": "Pull"}, "storage": CLAIM}, "dispatch.mode Pull does not go"),
    "way out": ({"storage": {**CLAIM, "subPath": "../x"}}, "may not contain '..'"),
    "servers": ({"numServers": 30}, "numServers 30 is larger than network.portCount 20"),
    "master port": ({"network": {"masterPort": 30060}}, "lies within the servers' ports"),
    "own port": ({"network": {"masterPort": 29400}}, "masterPort 29400 is dglrun's own"),
    "port base": ({"network": {"portBase": 29390}}, "29400 lies within the servers' ports"),
    "shm": ({"shmSize": "9999Ei"}, "shmSize: '9999Ei'"),  # what is no quantity the CRD refuses
    "negative shm": ({"shmSize": "-1Gi"}, "shmSize -1Gi is negative"),
    "no data": ({"dataset": None}, "nobody says how to partition"),
    "no template": ({"specs": {"Worker": {"replicas": 2}}}, "Worker.template.spec must be an object"),
    "template is text": (
        {"specs": {"Worker": {"template": {"spec": "x"}}}},
        "template.spec must be an object",
    ),
    "no containers": (with_spec(containers=[]), "containers is empty"),
    "containers are text": (with_spec(containers="dgl"), "containers must be a list of objects"),
    "a container is text": (with_spec(containers=["dgl"]), "containers must be a list of objects"),
    "volumes are text": (with_spec(containers=[{"name": "a"}], volumes=["x"]), "volumes must be a list"),
    "no image": (with_main(image=""), "states no image"),
    "no command": (with_main(command=None), "must state command"),
    "env is a map": (with_main(env={"A": "1"}), ".env must be a list of objects"),
    "command is text": (with_main(command="train"), ".command must be a list of strings"),
    "limits are text": (with_main(resources={"limits": "x"}), "limits and requests must be objects"),
    "memory": (with_main(resources={"limits": {"memory": "lots"}}), "resources.limits.memory: 'lots'"),
    "main container": ({"mainContainer": "x"}, "mainContainer 'x' is not in"),
    "own container name": (
        with_spec(containers=[{"name": "dglop-fetch", "image": "i", "command": ["c"]}]),
        "the container name dglop-fetch is the operator's own",
    ),
    "own volume name": (
        with_spec(
            containers=[{"name": "a", "image": "i", "command": ["c"]}],
            volumes=[{"name": "dglop-parts", "emptyDir": {}}],
        ),
        "are the operator's own",
    ),
    "own path": (with_main(volumeMounts=[{"name": "x", "mountPath": "/etc/dgl"}]), "/etc/dgl is where"),
    "parts path": (
        with_main(volumeMounts=[{"name": "x", "mountPath": "/dgl_workspace/workload"}]),
        "state the volume in spec.storage",
    ),
    "output twice": (
        {
            **with_main(volumeMounts=[{"name": "x", "mountPath": "/dgl_workspace/output"}]),
            "output": {"claimName": "m"},
        },
        "mounted by the template and by spec.output",
    ),
}


@pytest.mark.parametrize(("spec", "sentence"), CASES.values(), ids=CASES.keys())
def test_a_mistake_ends_the_job_with_a_sentence(spec, sentence):
    world = World(make_job(**spec))
    world.settle()
    failed = world.job.status.get("Failed")
    assert failed is not None
    assert failed.reason == "InvalidSpec"
    assert sentence in failed.message
    assert world.job.status.completion_time is not None
    assert world.job.status.phase == "Failed"
    assert not world.created


def test_a_size_that_was_edited_into_nonsense_ends_the_job_at_its_next_attempt():
    world = World(make_job())
    world.partition()
    world.train()
    world.job.spec.shm_size = "1e999999999"
    world.end("g-worker-0", 137)
    world.settle()
    failed = world.job.status.get("Failed")
    assert (failed.reason, "the size of /dev/shm" in failed.message) == ("InvalidSpec", True)


@pytest.mark.parametrize(
    "path",
    [
        *("/", "//", "/etc", "/etc/dgl", "/etc/dgl/", "/etc//dgl/parts", "/etc/dglrun", "/opt/dglrun/x"),
        *("/dev/shm", "/dev", "/dgl_workspace", "/dgl_workspace/output", "/data/../etc/dgl"),
    ],
)
def test_parts_over_or_within_a_folder_of_the_operators_own_are_refused(path):
    (problem,) = problems(make_job(storage={"mountPath": path}))
    assert problem.startswith(f"storage.mountPath {path} lies over or within /")


@pytest.mark.parametrize("path", ["/dgl_workspace/workload", "/etc/dgl2", "/dgl_workspace/out", "/data/"])
def test_parts_may_be_mounted_anywhere_else(path):
    assert problems(make_job(storage={"mountPath": path})) == []


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"partitionMode": "DGL-API"},
        {"numPartitions": 2},
        {"storage": {**CLAIM, "claimName": "parts-1.of.2"}, "output": {"claimName": "0"}},
        {"storage": CLAIM, "dispatch": {"mode": "Volume"}},
        {"dispatch": {"mode": "Pull"}},
        {"partitionMode": "Skip", "storage": {**CLAIM, "existing": True}},
        {"shmSize": 0},
        with_main(resources={"limits": {"nvidia.com/gpu": 1}}),
        with_main(volumeMounts=[{"name": "x", "mountPath": "/dgl_workspace/output"}]),
    ],
)
def test_a_job_that_can_run_has_no_problems(spec):
    assert problems(make_job(**spec)) == []


def test_the_missing_command_is_explained_with_the_fix():
    (sentence,) = problems(make_job(**with_main(command=None)))
    assert "python3 /opt/dglrun/dglrun.pyz worker --" in sentence
    assert 'command: ["python3", "train.py"]' in sentence


def test_a_name_whose_longest_pod_is_too_long_is_refused():
    fits = World(make_job("a" * 49))
    fits.settle()
    assert fits.created
    world = World(make_job("a" * 50))
    world.settle()
    assert world.job.status.get("Failed").reason == "InvalidSpec"
    assert "partitioner-0" in world.job.status.get("Failed").message

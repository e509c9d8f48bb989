# SPDX-License-Identifier: Apache-2.0
"""MSP: no Partitioner; each Worker makes its own part in an init container, together with the others."""

from __future__ import annotations

import pytest

from test.unit.dgljob.dgljob_making import assemble, begin_init, end_init, said, workers_of
from test.unit.dgljob.dgljob_pods import container, env, mounts, variables, volumes
from test.unit.dgljob.dgljob_world import World, make_job, template

W0, W1 = "g-worker-0", "g-worker-1"
CLAIM = {"type": "PVC", "claimName": "parts"}
MAKES = "dglop-assemble"
WHOLE = ["Pending", "Partitioning", "Partitioned", "Dispatching", "Training", "Completed"]
REFUSED = (
    '{"cause":"self","process":"assemble","exitCode":2,"reason":"ConfigInvalid","lines":["no such file"]}'
)


def msp(main=None, **spec):
    specs = {"Worker": {"replicas": 2, "template": template(**(main or {}))}}
    return World(make_job(specs=specs, **{"partitionMode": "MSP", **spec}))


def begin(world):
    world.settle()
    for name in workers_of(world):
        begin_init(world, name, MAKES)
    world.settle()


def ready(world):
    for name in workers_of(world):
        world.ready(name, "dgl")
    world.settle()


def assembled(**spec):
    world = msp(**spec)
    assemble(world)
    ready(world)
    return world


def test_workers_make_their_parts_and_train():
    world = msp()
    begin(world)
    assert world.created == [W0, W1]
    partition = world.job.status.partition
    assert (world.job.status.phase, partition.state, partition.ready) == ("Partitioning", "Running", "0/2")
    end_init(world, W0, MAKES, 0, said("cafe"))
    world.settle()
    assert world.job.status.phase == "Partitioning", "one of two is not all"
    assert world.job.status.dispatch.ready == 1
    end_init(world, W1, MAKES, 0, said("cafe"))
    world.settle()
    partition = world.job.status.partition
    assert (partition.mode, partition.state, partition.ready) == ("MSP", "Succeeded", "2/2")
    assert (partition.manifest_hash, partition.bytes) == ("cafe", 1000)
    assert "28410 edges" in world.job.status.get("Partitioned").message
    ready(world)
    world.finish()
    assert world.phases == WHOLE
    assert (world.job.status.attempt, world.job.status.restart_count) == (1, 0)


def test_the_container_that_makes_a_part_sees_the_data_as_the_main_one_does():
    main = {
        "image": "mine:1",
        "resources": {"limits": {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": 1}},
        "env": [{"name": "KEY", "value": "k"}, {"name": "DGLJOB_UID", "value": "another"}],
        "envFrom": [{"secretRef": {"name": "more"}}],
        "volumeMounts": [{"name": "raw", "mountPath": "/raw"}],
    }
    dataset = {"url": "file:///raw/graph", "format": "csv", "secretRef": {"name": "keys"}}
    world = msp(main, dataset=dataset, partition={"method": "random", "retainOnRestart": False})
    world.settle()
    spec = world.pods[W1]["spec"]
    assert [each["name"] for each in spec["initContainers"]] == ["dglop-deliver", MAKES]
    makes = container(spec, MAKES)
    assert makes["image"] == "mine:1"
    assert makes["command"][:3] == ["python3", "/opt/dglrun/dglrun.pyz", "assemble"]
    assert makes["resources"] == {"limits": {"cpu": "4", "memory": "8Gi"}}
    assert variables(makes)["KEY"] == "k"
    assert makes["envFrom"] == [{"secretRef": {"name": "more"}}, {"secretRef": {"name": "keys"}}]
    assert mounts(makes)["/raw"]["name"] == "raw"
    assert "readOnly" not in mounts(makes)["/dgl_workspace/workload"]
    told = env(makes)
    assert {name: value for name, value in told.items() if name in EXPECTED} == EXPECTED
    assert told["DGLJOB_UID"] == world.job.uid


EXPECTED = {
    "DGLJOB_PARTITION_MODE": "MSP",
    "DGLJOB_REPLICA_INDEX": "1",
    "DGLJOB_NUM_WORKERS": "2",
    "DGLJOB_NUM_PARTS": "2",
    "DGLJOB_DATASET_URL": "file:///raw/graph",
    "DGLJOB_DATASET_FORMAT": "csv",
    "DGLJOB_PART_METHOD": "random",
    "DGLJOB_RETAIN_PARTS": "0",
    "DGLJOB_RENDEZVOUS_HOST": "g-worker-0.g.t.svc",
    "DGLJOB_ASSEMBLE_PORT": "29402",
    "DGL_OPERATOR_PHASE_ENV": "Partitioner",
}


def test_a_worker_trusts_the_part_that_its_own_pod_has_made():
    world = msp()
    world.settle()
    spec = world.pods[W0]["spec"]
    main = container(spec)
    assert not {"DGLJOB_MANIFEST_HASH", "DGLJOB_VERIFY_PARTS", "DGLJOB_PARTITION_MODE"} & env(main).keys()
    assert mounts(main)["/dgl_workspace/workload"]["readOnly"] is True
    assert volumes(spec)["dglop-parts"] == {"emptyDir": {}}


def test_parts_on_a_claim_are_found_again_by_the_next_attempt():
    world = assembled(storage=CLAIM)
    world.end(W1, 137)
    world.settle()
    assert world.job.status.partition.is_latched
    assert world.phases[-2:] == ["Restarting", "Dispatching"]
    assemble(world, reused=True)
    ready(world)
    world.finish()
    assert world.phases[5:] == ["Restarting", "Dispatching", "Training", "Completed"]
    assert (world.job.status.restart_count, world.job.status.partition.attempt) == (1, 1)


def test_parts_on_a_claim_that_were_made_anew_are_latched_anew():
    world = assembled(storage=CLAIM)
    world.end(W1, 137)
    assemble(world, "new")
    ready(world)
    world.finish()
    assert (world.job.status.partition.manifest_hash, world.job.status.partition.attempt) == ("new", 2)
    assert world.job.status.is_true("Succeeded")


@pytest.mark.parametrize(
    "spec", [{}, {"storage": CLAIM, "partition": {"retainOnRestart": False}}], ids=["emptyDir", "not kept"]
)
def test_parts_that_are_gone_with_their_pods_are_made_anew_by_the_next_attempt(spec):
    world = assembled(**spec)
    world.end(W1, 137)
    world.settle()
    assert not world.job.status.is_latched
    assert world.job.status.get("Partitioned").status == "False"
    assemble(world, "new")
    ready(world)
    world.finish()
    assert world.phases[5:] == ["Restarting", *WHOLE[1:]]
    assert world.job.status.partition.manifest_hash == "new"


def test_workers_that_made_different_parts_begin_anew():
    world = msp(runPolicy={"backoffLimit": 1})
    begin(world)
    end_init(world, W0, MAKES, 0, said("one"))
    end_init(world, W1, MAKES, 0, said("two"))
    world.settle()
    status = world.job.status
    assert (status.attempt, status.restart_count, status.is_latched) == (2, 1, False)
    assert (status.last_failure.pod_name, status.last_failure.reason) == (W1, "PartsChanged")
    assert "parts of two partitionings are never mixed" in status.last_failure.message
    assemble(world, "three")
    ready(world)
    world.finish()
    assert world.job.status.is_true("Succeeded")


def test_workers_that_never_agree_exhaust_the_limit():
    world = msp(runPolicy={"backoffLimit": 0})
    begin(world)
    end_init(world, W0, MAKES, 0, said("one"))
    end_init(world, W1, MAKES, 0, said("two"))
    world.settle()
    failed = world.job.status.get("Failed")
    assert failed.status == "True"
    assert failed.reason == "BackoffLimitExceeded"
    assert "manifest two" in world.job.status.last_failure.message
    assert world.created == [W0, W1]


def test_what_cannot_be_read_fails_the_job_as_its_partition():
    world = msp()
    begin(world)
    end_init(world, W1, MAKES, 2, REFUSED)
    world.settle()
    failed = world.job.status.get("Failed")
    assert failed.reason == "PartitionFailed"
    assert "no such file" in failed.message
    assert world.job.status.partition.state == "Failed"


def test_a_worker_killed_while_it_makes_its_part_begins_a_new_attempt():
    world = msp()
    begin(world)
    end_init(world, W0, MAKES, 143, '{"cause":"peer","pod":"g-worker-1","process":"assemble","exitCode":137}')
    end_init(
        world, W1, MAKES, 137, '{"cause":"self","process":"assemble","exitCode":137,"signal":9,"oom":true}'
    )
    world.settle()
    status = world.job.status
    assert (status.attempt, status.restart_count, status.last_failure.pod_name) == (2, 1, W1)
    assemble(world)
    ready(world)
    world.finish()
    assert world.phases == [*WHOLE[:2], "Restarting", *WHOLE[1:]]


def test_a_suspended_job_makes_other_parts_for_another_number_of_workers():
    world = assembled(storage=CLAIM)
    world.job.spec.run_policy.suspend = True
    world.settle()
    assert not world.pods
    world.job.spec.dgl_replica_specs["Worker"].replicas = 3
    world.job.spec.run_policy.suspend = False
    world.settle()
    assert len(world.pods) == 3
    assert not world.job.status.is_latched
    assemble(world, "three", parts=3)
    ready(world)
    world.finish()
    assert (world.job.status.partition.ready, world.job.status.is_true("Succeeded")) == ("3/3", True)
    assert world.phases[5:] == ["Suspended", *WHOLE]


@pytest.mark.parametrize("storage", [None, CLAIM], ids=["emptyDir", "claim"])
def test_a_resumed_job_has_parts_again(storage):
    world = assembled(**({"storage": storage} if storage else {}))
    world.job.spec.run_policy.suspend = True
    world.settle()
    assert world.job.status.is_latched == bool(storage)
    world.job.spec.run_policy.suspend = False
    assemble(world, "abc" if storage else "new", reused=bool(storage))
    ready(world)
    world.finish()
    assert world.job.status.partition.manifest_hash == ("abc" if storage else "new")
    assert world.phases[-1] == "Completed"
    assert world.job.status.restart_count == 0


def test_workers_that_make_no_part_in_time_end_the_job():
    world = msp(runPolicy={"progressDeadlineSeconds": 60})
    begin(world)
    world.wait(61)
    world.settle()
    assert world.job.status.get("Failed").reason == "ProgressDeadlineExceeded"


def test_a_launcher_waits_for_workers_that_have_their_parts():
    specs = {"Worker": {"replicas": 2, "template": template()}, "Launcher": {"template": template()}}
    world = World(make_job(specs=specs, partitionMode="MSP"))
    assemble(world)
    assert world.created == [W0, W1]
    ready(world)
    assert world.created == [W0, W1, "g-launcher-0"]

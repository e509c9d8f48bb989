# SPDX-License-Identifier: Apache-2.0
"""launchMode Exec: the course of a job, from the parts to the Launcher's end."""

from __future__ import annotations

import json

import pytest

from test.unit.dgljob.dgljob_exec import ExecWorld, exec_job
from test.unit.dgljob.dgljob_world import template

WHOLE = ["Pending", "Partitioning", "Partitioned", "Dispatching", "Starting", "Training", "Completed"]


def test_each_phase_is_seen_once_and_in_order_and_the_launchers_end_is_the_jobs():
    world = ExecWorld(exec_job())
    world.partition()
    world.start_workers()
    world.init_done("g-launcher-0", "dglop-dispatch")
    world.settle()
    assert world.phases[-1] == "Starting"
    world.run("g-launcher-0", ready=True)
    world.settle()
    world.end("g-launcher-0")
    world.settle()
    assert world.phases == WHOLE
    assert world.created == ["g-partitioner-0", "g-worker-0", "g-worker-1", "g-launcher-0"]
    assert not [name for name in world.pods if "worker" in name], "nobody starts anything in them any more"


def test_the_final_figures_are_those_of_the_launchers_last_words():
    world = ExecWorld(exec_job())
    world.partition()
    world.start_workers()
    world.run("g-launcher-0")
    said = {"progressPercentage": 100, "metrics": [{"name": "loss", "value": "0.1"}]}
    world.end("g-launcher-0", message=json.dumps({"result": said}))
    world.settle()
    trainer = world.job.status.trainer
    assert trainer.progress == "100%"
    assert [(each.name, each.value) for each in trainer.metrics] == [("loss", "0.1")]


def test_phases_are_seen_even_where_the_launcher_is_done_at_the_first_look():
    world = ExecWorld(exec_job())
    world.partition()
    world.start_workers()
    world.run("g-launcher-0")
    world.end("g-launcher-0")
    world.settle()
    assert world.phases == WHOLE


def test_the_launcher_waits_until_all_workers_are_ready_and_have_addresses():
    world = ExecWorld(exec_job())
    world.partition()
    world.run("g-worker-0", ready=True)
    world.run("g-worker-1", ready=True)
    del world.pods["g-worker-1"]["status"]["podIP"]
    world.settle()
    assert "g-launcher-0" not in world.pods
    assert "g-config-1" not in world.objects, "half a host file was written"
    world.run("g-worker-1", ready=False)
    world.settle()
    assert "g-launcher-0" not in world.pods
    world.run("g-worker-1", ready=True)
    world.settle()
    assert "g-launcher-0" in world.pods
    assert "g-config-1" in world.objects


def test_the_host_files_of_eleven_workers_pair_each_name_with_its_own_address():
    world = ExecWorld(exec_job(11))
    world.partition()
    world.start_workers()
    data = world.objects["g-config-1"]["data"]
    lines = [line.split() for line in data["hostfile"].splitlines()]
    assert lines == [[f"10.0.0.{i}", "30050", "1", f"g-worker-{i}", "0"] for i in range(11)]
    assert world.objects["g-config-1"]["immutable"] is True


def test_each_reader_of_host_files_has_the_form_that_it_knows():
    worker = {"name": "dgl", "image": "dgl:test", "resources": {"limits": {"nvidia.com/gpu": 2}}}
    world = ExecWorld(exec_job(1, worker=worker, numServers=3, slotsPerWorker=4, network={"portBase": 31000}))
    world.partition()
    world.start_workers()
    data = world.objects["g-config-1"]["data"]
    assert data["hostfile"] == "10.0.0.0 31000 3 g-worker-0 2\n"
    assert data["ip_config"] == "10.0.0.0 31000\n"
    assert data["hostfile_dglke"] == "10.0.0.0 31000 3\n"
    assert data["hostfile_openmpi"] == "g-worker-0 slots=4\n"
    assert data["hostfile_upstream"] == "10.0.0.0 31000 g-worker-0 slots=4\n"


def test_the_partfile_names_the_partitioner_that_serves():
    world = ExecWorld(exec_job())
    world.partition()
    world.start_workers()
    assert world.objects["g-config-1"]["data"]["partfile"] == "10.0.0.0 30050 g-partitioner-0\n"


@pytest.mark.parametrize("how", ["killed", "deleted"])
def test_a_lost_worker_restarts_the_gang_and_the_next_attempt_has_its_own_addresses(how):
    world = ExecWorld(exec_job())
    world.train()
    if how == "killed":
        world.end("g-worker-1", 137)
    else:
        del world.pods["g-worker-1"]
    world.settle()
    assert world.job.status.attempt == 2
    assert "g-launcher-0" not in world.pods, "the Launcher of before would go on with addresses of before"
    world.start_workers()
    volumes = {each["name"]: each for each in world.pods["g-launcher-0"]["spec"]["volumes"]}
    assert volumes["dglop-exec"]["configMap"]["name"] == "g-config-2"
    assert "g-config-2" in world.objects
    assert world.created.count("g-partitioner-0") == 1, "the parts are kept"


def test_a_launcher_that_fails_restarts_the_gang():
    world = ExecWorld(exec_job())
    world.train()
    world.end("g-launcher-0", 1)
    world.settle()
    assert (world.job.status.attempt, world.job.status.restart_count) == (2, 1)


def test_a_partitioner_that_is_lost_before_the_parts_are_dispatched_makes_them_again():
    world = ExecWorld(exec_job())
    world.partition()
    world.start_workers()
    del world.pods["g-partitioner-0"]
    world.settle()
    assert "PartsLost" in world.events
    assert world.created.count("g-partitioner-0") == 2
    assert world.job.status.disruption_count == 1


def test_a_partitioner_that_is_lost_while_the_launcher_trains_is_not_missed():
    world = ExecWorld(exec_job())
    world.train()
    del world.pods["g-partitioner-0"]
    world.settle()
    assert world.job.status.attempt == 1
    assert world.phases[-1] == "Training"


def test_a_worker_that_has_ended_already_is_left_to_the_launcher_to_complain_of():
    world = ExecWorld(exec_job())
    world.partition()
    for name in ("g-worker-0", "g-worker-1"):
        world.run(name, ready=True)
    world.end("g-worker-1")
    world.settle()
    assert "g-launcher-0" in world.pods, "nobody would ever say what is wrong"


def test_a_resized_job_gives_its_launcher_an_account_of_that_size():
    world = ExecWorld(exec_job())
    world.partition()
    world.start_workers()
    assert world.pods["g-launcher-0"]["spec"]["serviceAccountName"] == "g-launcher-2"
    policy = world.job.spec.run_policy
    policy.suspend = True
    world.settle()
    policy.suspend = False
    world.job.spec.dgl_replica_specs["Worker"].replicas = 3
    world.partition()
    world.start_workers()
    assert world.pods["g-launcher-0"]["spec"]["serviceAccountName"] == "g-launcher-3"
    assert len(world.objects[f"g-config-{world.job.status.attempt}"]["data"]["hostfile"].splitlines()) == 3


def test_a_launcher_alone_runs_as_it_does_without_exec_and_has_no_rights():
    specs = {"Launcher": {"template": template()}}
    world = ExecWorld(exec_job(specs=specs, partitionMode="Skip", dataset=None))
    world.settle()
    assert not world.objects
    assert not world.pods["g-launcher-0"]["spec"].get("serviceAccountName")

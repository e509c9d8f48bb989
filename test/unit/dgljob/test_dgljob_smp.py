# SPDX-License-Identifier: Apache-2.0
"""SMP: one pod as in SSP, in which many processes partition."""

from __future__ import annotations

import pytest

from test.unit.dgljob.dgljob_pods import container, env, pods
from test.unit.dgljob.dgljob_world import World, make_job, template


def partitioner(**spec):
    resources = spec.pop("resources", {"limits": {"cpu": 4}})
    workers = {"Worker": {"replicas": 3, "template": template(resources=resources)}}
    world = World(make_job(specs=workers, **{"partitionMode": "SMP", **spec}))
    world.settle()
    return container(world.pods["g-partitioner-0"]["spec"])


def test_dglrun_partitions_the_data_set_in_as_many_processes_as_there_are_cpus_for_parts():
    main = partitioner()
    assert "--" not in main["command"]
    told = env(main)
    assert (told["DGLJOB_PARTITION_MODE"], told["DGLJOB_PARTITION_PROCESSES"]) == ("SMP", "3")
    assert "DGLJOB_PART_METHOD" not in told


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({"partition": {"processes": 2}}, "2"),
        ({"resources": {"limits": {"cpu": "1500m"}}}, "2"),
        ({"resources": {}}, None),
    ],
)
def test_the_job_or_else_the_cpu_limit_says_how_many_processes_there_are(spec, count):
    assert env(partitioner(**spec)).get("DGLJOB_PARTITION_PROCESSES") == count


def test_parmetis_is_smp_with_a_method_of_its_own():
    told = env(partitioner(partitionMode="ParMETIS"))
    assert (told["DGLJOB_PARTITION_MODE"], told["DGLJOB_PART_METHOD"]) == ("SMP", "parmetis")


def test_the_method_and_the_file_of_given_parts_are_handed_on():
    told = env(partitioner(partition={"method": "given", "partIds": "/raw/ids.txt"}))
    assert (told["DGLJOB_PART_METHOD"], told["DGLJOB_PART_IDS"]) == ("given", "/raw/ids.txt")


def test_a_command_of_ones_own_is_told_of_processes_too():
    specs = {
        "Partitioner": {"template": template(command=["mpirun", "part"], resources={"limits": {"cpu": 4}})},
        "Worker": {"replicas": 2, "template": template()},
    }
    main = container(pods(make_job(specs=specs, partitionMode="SMP"))["partitioner-0"])
    assert main["command"][-3:] == ["--", "mpirun", "part"]
    assert env(main)["DGLJOB_PARTITION_PROCESSES"] == "2"

# SPDX-License-Identifier: Apache-2.0
"""SMP: one pod as in SSP, which is told how many processes may partition."""

from __future__ import annotations

from test.unit.dgljob.dgljob_pods import container, env, pods
from test.unit.dgljob.dgljob_world import make_job, template


def test_a_command_of_ones_own_is_told_of_processes_too():
    specs = {
        "Partitioner": {"template": template(command=["mpirun", "part"], resources={"limits": {"cpu": 4}})},
        "Worker": {"replicas": 2, "template": template()},
    }
    main = container(pods(make_job(specs=specs, partitionMode="SMP"))["partitioner-0"])
    assert main["command"][-3:] == ["--", "mpirun", "part"]
    assert env(main)["DGLJOB_PARTITION_PROCESSES"] == "2"

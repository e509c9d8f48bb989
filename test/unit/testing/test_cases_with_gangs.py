# SPDX-License-Identifier: Apache-2.0
"""The acceptance case of gang scheduling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.constants import POD
from test.unit.testing.gang_cases import gang_cases, groups, set_phase

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryCluster

GROUP_NAME = "scheduling.k8s.io/group-name"


async def test_d5_each_phases_pods_are_a_group_of_their_queue_and_wait_until_it_is_taken_up(
    memory_cluster: MemoryCluster,
) -> None:
    async with gang_cases(memory_cluster) as cases:
        await cases.dgl(schedulingPolicy={"queue": "q1"})
        await cases.cluster.advance(60.0)
        assert cases.pods() == {}
        (name,) = found = await groups(cases)
        assert (found[name]["spec"]["minMember"], found[name]["spec"]["queue"]) == (1, "q1")
        await set_phase(cases, "Inqueue", name)
        await cases.played_until(lambda: cases.dgljob().status.is_latched)
        await cases.cluster.advance(60.0)
        assert set(cases.pods()) == {"g-partitioner-0"}
        found = await groups(cases)
        assert (found["g"]["spec"]["minMember"], found["g"]["spec"]["queue"]) == (2, "q1")
        await set_phase(cases, "Inqueue")
        await cases.train()
        pods = await cases.client.list(POD, cases.namespace)
        marks = {each["metadata"]["name"]: each["metadata"]["annotations"][GROUP_NAME] for each in pods}
        assert marks == {"g-partitioner-0": name, "g-worker-0": "g", "g-worker-1": "g"}
        assert {each["spec"]["schedulerName"] for each in pods} == {"volcano"}

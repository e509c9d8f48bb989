# SPDX-License-Identifier: Apache-2.0
"""What the flags for gangs and queues turn on, they turn on for every kind that the program knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.cli.kinds import KINDS, resource_class
from dglop.cli.operator import add_kinds
from dglop.cli.settings import ProgramSettings
from dglop.common.gang import Volcano
from dglop.common.kueue.names import FLAVOR, LABEL_QUEUE, WORKLOAD, WORKLOAD_PRIORITY
from dglop.runtime.crdinstall import install_crds
from dglop.testing.loosecrd import loose_crd
from test.envtest.kinds.world import manifest
from test.unit.testing.conftest import memory_cluster

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryCluster

__all__ = ("memory_cluster",)

GROUP = Volcano.resource
CRDS = [loose_crd(GROUP, has_status=False), *map(loose_crd, (FLAVOR, WORKLOAD, WORKLOAD_PRIORITY))]
OFF: dict[str, Any] = {"metrics_bind": "0", "health_bind": "0", "progress_bind": "0"}


async def _submitted(cluster: MemoryCluster, kind: str, **flags: Any) -> str:
    """Submit a job of the kind to an operator with these flags and what it needs; the job's UID."""
    await install_crds(cluster.client, [resource_class(kind)], cluster.clock, manifests=CRDS)
    settings = ProgramSettings(kinds=[kind], **OFF, **flags)
    manager = cluster.manager(settings)
    add_kinds(manager, settings)
    async with manager:
        made = manifest(kind, "g", "default")
        made["metadata"]["labels"] = {LABEL_QUEUE: "q"}
        wire = await cluster.client.create(made)
        await cluster.settle()
    return str(wire["metadata"]["uid"])


@pytest.mark.parametrize("kind", KINDS)
async def test_jobs_of_every_kind_have_their_group_with_a_gang_scheduler(
    memory_cluster: MemoryCluster, kind: str
) -> None:
    uid = await _submitted(memory_cluster, kind, gang_scheduler="volcano")
    (group,) = await memory_cluster.client.list(GROUP, "default")
    assert [each["uid"] for each in group["metadata"]["ownerReferences"]] == [uid]
    assert await memory_cluster.client.list("pods", "default") == []


@pytest.mark.parametrize("kind", KINDS)
async def test_jobs_of_every_kind_wait_in_their_queue_with_kueue(
    memory_cluster: MemoryCluster, kind: str
) -> None:
    uid = await _submitted(memory_cluster, kind, kueue=True)
    (workload,) = await memory_cluster.client.list(WORKLOAD, "default")
    assert [each["uid"] for each in workload["metadata"]["ownerReferences"]] == [uid]
    job = await memory_cluster.client.get(resource_class(kind).resource, "g", "default")
    assert job["spec"]["runPolicy"]["suspend"] is True
    assert await memory_cluster.client.list("pods", "default") == []

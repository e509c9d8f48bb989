# SPDX-License-Identifier: Apache-2.0
"""The world of the acceptance cases with Volcano's groups, where the test is the scheduler too."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from dglop.common.gang import Volcano
from dglop.dgljob import DGLJob
from dglop.runtime.crdinstall import install_crds
from dglop.testing.loosecrd import loose_crd
from dglop.testing.toyjob import ToyJob
from test.envtest.common.clocked import Said
from test.unit.testing.conftest import MemoryCases, started
from test.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.testing.memory import MemoryCluster

__all__ = ("GROUP", "gang_cases", "groups", "set_phase")

GROUP = Volcano().resource


@asynccontextmanager
async def gang_cases(cluster: MemoryCluster, *, is_served: bool = True) -> AsyncIterator[MemoryCases]:
    """Both kinds on a cluster with Volcano's CRD, or without it."""
    crds = [loose_crd(GROUP, has_status=False)] if is_served else []
    await install_crds(cluster.client, [ToyJob, DGLJob], cluster.clock, manifests=crds)
    wire, said, volcano = Wire(), Said(), Volcano()
    async with AsyncExitStack() as running:
        manager = await started(cluster, running, wire, said, volcano)
        yield MemoryCases(cluster, running, manager, wire, said=said, gang=volcano)


async def groups(cases: MemoryCases) -> dict[str, dict[str, Any]]:
    """The groups that there are, as the server has them."""
    listed = await cases.client.list(GROUP, cases.namespace)
    return {each["metadata"]["name"]: each for each in listed}


async def set_phase(cases: MemoryCases, phase: str, name: str = "g") -> None:
    """Be the scheduler."""
    await cases.client.patch(GROUP, name, cases.namespace, {"status": {"phase": phase}})

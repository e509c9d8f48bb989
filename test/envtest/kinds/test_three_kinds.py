# SPDX-License-Identifier: Apache-2.0
"""DGLJobs, PyTorchJobs and MPIJobs in one Manager: lives, and equal names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from test.envtest.kinds.world import KindsWorld

_PODS = {
    "DGLJob": ["g-launcher-0"],
    "PyTorchJob": ["g-master-0", "g-worker-0"],
    "MPIJob": ["g-launcher-0", "g-worker-0"],
}
_KINDS = list(_PODS)


@pytest.mark.parametrize("kind", _KINDS)
async def test_a_job_of_each_kind_runs_from_creation_to_success(kinds_world: KindsWorld, kind: str) -> None:
    world = kinds_world
    await world.submit(kind)
    await world.run_all(kind, len(_PODS[kind]))
    assert world.pods(kind) == _PODS[kind]
    await world.set_pod(_PODS[kind][0], "Succeeded")
    await world.until(lambda: world.is_true("Succeeded", kind))
    job = world.job(kind)
    assert job.status.completion_time is not None
    assert world.events(kind, f"{kind}Succeeded") or await world.until(
        lambda: world.events(kind, f"{kind}Succeeded")
    )


@pytest.mark.parametrize("kind", ["PyTorchJob", "MPIJob"])
async def test_a_suspended_job_has_no_pods_until_it_is_resumed(kinds_world: KindsWorld, kind: str) -> None:
    world = kinds_world
    await world.submit(kind)
    await world.run_all(kind, 2)
    for suspend in (True, False):
        change = {"spec": {"runPolicy": {"suspend": suspend}}}
        await world.client.patch(type(world.job(kind)).resource, "g", world.namespace, change)
        if suspend:
            await world.until(lambda: world.is_true("Suspended", kind) and not world.pods(kind))
    await world.run_all(kind, 2)
    assert world.job(kind).status.restart_count == 0


@pytest.mark.parametrize("kind", ["PyTorchJob", "MPIJob"])
async def test_a_finished_job_is_deleted_when_its_ttl_is_over(kinds_world: KindsWorld, kind: str) -> None:
    world = kinds_world
    await world.submit(kind, runPolicy={"ttlSecondsAfterFinished": 1})
    await world.run_all(kind, 2)
    await world.set_pod(_PODS[kind][0], "Succeeded")
    await world.until(lambda: world.job(kind) is None)


async def test_a_launcher_waits_for_ready_workers_where_its_job_says_so(kinds_world: KindsWorld) -> None:
    world = kinds_world
    await world.submit("MPIJob", launcherCreationPolicy="WaitForWorkersReady")
    await world.until(lambda: world.job("MPIJob") and world.pods("MPIJob") == ["g-worker-0"])
    await world.set_pod("g-worker-0")
    await world.until(lambda: len(world.pods("MPIJob")) == 2)


async def test_jobs_of_equal_names_live_side_by_side_in_different_namespaces(
    kinds_world: KindsWorld,
) -> None:
    world = kinds_world
    places = {"PyTorchJob": world.namespace, "MPIJob": world.other}
    for kind, place in places.items():
        await world.submit(kind, namespace=place)
    for kind, place in places.items():
        await world.run_all(kind, 2, namespace=place)
        assert world.pods(kind, namespace=place) == _PODS[kind]
        assert not world.events(kind, "ErrResourceExists")


@pytest.mark.parametrize(
    ("first", "second"),
    [("DGLJob", "PyTorchJob"), ("DGLJob", "MPIJob"), ("PyTorchJob", "MPIJob"), ("MPIJob", "PyTorchJob")],
)
async def test_the_second_kinds_job_of_a_name_waits_touches_nothing_and_goes_on_when_the_first_is_gone(
    kinds_world: KindsWorld, first: str, second: str
) -> None:
    world = kinds_world
    uid = (await world.submit(first))["metadata"]["uid"]
    await world.run_all(first, len(_PODS[first]))
    before, job = await world.children(uid), world.job(first)
    await world.submit(second)
    await world.until(lambda: world.events(second, "ErrResourceExists"))
    waits = world.job(second).status
    assert (waits.get("Running").status, waits.get("Running").reason) == ("False", "ErrResourceExists")
    assert f"Service g exists already and belongs to {first} g" in waits.get("Running").message
    assert world.pods(second) == []
    assert not waits.is_true("Failed")
    assert await world.children(uid) == before, "something of the first job was touched"
    assert world.job(first) == job
    assert world.is_true("Running", first)
    await world.remove(first)
    await world.run_all(second, len(_PODS[second]))
    await world.set_pod(_PODS[second][0], "Succeeded")
    await world.until(partial(world.is_true, "Succeeded", second))
    assert len(world.events(second, "ErrResourceExists")) == 1

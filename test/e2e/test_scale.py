# SPDX-License-Identifier: Apache-2.0
"""Many jobs at once on the fake node, where pods cost nothing: the load of `make bench` in small."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hack.bench.workload import PODS_EACH, dgl_job, parts_volume
from test.e2e.jobs import condition, phase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from test.e2e.kubectl import Kubectl

pytestmark = pytest.mark.needs_own

_JOBS = 20


@pytest.fixture
def parts(kubectl: Kubectl, namespace: str) -> Iterator[None]:
    """The claim that the jobs name, and its volume, which is gone after the test."""
    volume, claim = parts_volume(namespace)
    kubectl.delete("persistentvolume", volume["metadata"]["name"], namespace)
    kubectl.apply(volume, claim)
    yield
    kubectl.delete("persistentvolume", volume["metadata"]["name"], namespace, "--wait=false")


def test_twenty_jobs_at_once_succeed_and_no_pod_is_made_twice(
    kubectl: Kubectl, namespace: str, parts: None
) -> None:
    names = [f"job-{number:02d}" for number in range(_JOBS)]
    with kubectl.watch("pods", namespace) as watch:
        kubectl.apply(*(dgl_job(name, namespace) for name in names))

        def ended() -> bool:
            jobs = kubectl.list("dgljobs", namespace)
            return len(jobs) == _JOBS and all(phase(job) in {"Completed", "Failed"} for job in jobs)

        kubectl.until(f"{_JOBS} jobs have ended", ended)
        jobs = kubectl.list("dgljobs", namespace)
        kubectl.until("the watch saw the pods of all jobs", lambda: len(watch.uids()) >= _JOBS * PODS_EACH)
        made = watch.uids()
    succeeded = [condition(job, "Succeeded") for job in jobs]
    assert all(each is not None and each["status"] == "True" for each in succeeded)
    wanted = {f"{name}-worker-{index}": 1 for name in names for index in range(PODS_EACH)}
    assert {name: len(uids) for name, uids in made.items()} == wanted

# SPDX-License-Identifier: Apache-2.0
"""The acceptance cases of suspension and of kinds side by side: each by its name, on whichever server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.common.constants import POD, SECRET, SERVICE
from dglop.dgljob import DGLJob
from dglop.errors import InvalidError
from dglop.runtime.api import Resource
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.envtest.common.case_world import Cases

CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")


async def names(cases: Cases, *kinds: Resource) -> set[str]:
    """What there is of the job's, or of nobody's known."""
    listed = [each for kind in kinds for each in await cases.client.list(kind, cases.namespace)]
    found = {each["metadata"]["name"] for each in listed}
    return found - {"kube-root-ca.crt"}  # in every namespace, if anybody puts it there


async def test_d1_a_job_created_suspended_has_nothing_but_its_conditions(cases: Cases) -> None:
    await cases.dgl(suspend=True)
    await cases.until(lambda: cases.has("Suspended"))
    await cases.touch(DGLJob)
    assert await names(cases, POD, SERVICE, SECRET, CONFIG_MAP) == set()
    status = cases.dgljob().status
    assert status.start_time is None
    assert [each.type for each in status.conditions] == ["Created", "Suspended"]


async def test_d2_a_suspended_jobs_pods_all_go_and_count_until_they_are_gone(cases: Cases) -> None:
    await cases.dgl(cleanPodPolicy="None")
    await cases.until(cases.pods)
    await cases.bind("g-partitioner-0")
    await cases.played_until(lambda: len(cases.pods()) == 3)
    for name in ("g-worker-0", "g-worker-1"):
        await cases.bind(name)
    await cases.train()
    await cases.until(lambda: cases.count("Worker") == {"active": 2})
    await cases.change(DGLJob, suspend=True)
    await cases.until(lambda: cases.has("Suspended"))
    await cases.until(lambda: all(each.is_terminating for each in cases.pods().values()))
    await cases.rest()
    assert cases.has("Running", "False")
    assert cases.count("Worker")["active"] == 2
    for name in list(cases.pods()):
        await cases.remove_pod(name)
    await cases.until(lambda: cases.count("Worker") == {})
    for _ in range(10):
        await cases.touch(DGLJob)
    assert cases.pods() == {}
    told = cases.events("DGLJobSuspended")
    assert ["series" in each for each in told] == [False]


@pytest.mark.parametrize("kind", [DGLJob, ToyJob])
async def test_d4_a_job_that_kueue_runs_elsewhere_is_not_touched(cases: Cases, kind: type) -> None:
    await cases.rest()
    asked = list(cases.wire.sent)
    manager = "kueue.x-k8s.io/multikueue"
    await (cases.dgl(managedBy=manager) if kind is DGLJob else cases.toy(managed_by=manager))
    await cases.until(cases.either)
    for _ in range(3):
        await cases.touch(kind)
    assert cases.wire.sent == asked
    assert cases.either().status.conditions == []
    assert await names(cases, POD, SERVICE, SECRET) == set()
    for other in (None, "kubeflow.org/somebody"):
        with pytest.raises(InvalidError, match="managedBy"):
            await cases.change(kind, managedBy=other)


async def test_d7_of_two_kinds_jobs_of_one_name_neither_touches_the_others_children(cases: Cases) -> None:
    toy = await cases.toy()
    await cases.run()
    theirs = {name: pod.uid for name, pod in cases.pods().items()}
    dgl = await cases.dgl()
    await cases.played_until(lambda: (job := cases.dgljob()) and job.status.get("Running"))
    running = cases.dgljob().status.get("Running")
    assert (running.status, running.reason) == ("False", "ErrResourceExists")
    assert cases.job().status.is_true("Running")
    await cases.change(DGLJob, suspend=True)
    await cases.until(lambda: cases.dgljob().status.is_true("Suspended"))
    await cases.until(lambda: {name: pod.uid for name, pod in cases.pods().items()} == theirs)
    await cases.change(DGLJob, suspend=False)
    await cases.client.delete(ToyJob, "g", cases.namespace)
    await cases.until(lambda: cases.job() is None)
    await cases.collect(toy.uid)
    await cases.train()
    listed = await cases.client.list(POD, cases.namespace)
    assert {each["metadata"]["ownerReferences"][0]["uid"] for each in listed} == {dgl.uid}

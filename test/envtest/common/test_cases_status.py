# SPDX-License-Identifier: Apache-2.0
"""The acceptance cases of status, conditions and names: each by its name, on whichever server."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from dglop.common.constants import POD
from dglop.dgljob import DGLJob
from dglop.errors import InvalidError
from dglop.runtime.api import Resource
from dglop.testing.builders import pod_template
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.envtest.common.case_world import Cases

QUOTA = Resource("", "v1", "ResourceQuota", "resourcequotas")
# Created, Running, Restarting, Succeeded at the six points of the scripted run.
TABLE = [
    {"Created": "True"},
    {"Created": "True", "Running": "True"},
    {"Created": "True", "Running": "False", "Restarting": "True"},
    {"Created": "True", "Running": "True", "Restarting": "False"},
    {"Created": "True", "Running": "False", "Restarting": "False", "Succeeded": "True"},
]


async def test_c1_the_first_status_says_created_when_it_started_and_of_which_generation(cases: Cases) -> None:
    await cases.dgl()
    await cases.until(lambda: (job := cases.dgljob()) and job.status.conditions)
    first = next(each.status for each in cases.history if each.status.conditions)
    created = first.get("Created")
    assert (created.status, created.reason) == ("True", "DGLJobCreated")
    assert first.start_time is not None
    assert first.observed_generation == 1


def transitions(history: list[Any]) -> None:
    """No condition ever vanishes, and its time changes with its status alone."""
    for before, after in itertools.pairwise(history):
        known = {each.type: each for each in after.status.conditions}
        for each in before.status.conditions:
            assert each.type in known
            same = each.status == known[each.type].status
            assert not same or each.last_transition_time == known[each.type].last_transition_time


async def test_c2_the_conditions_of_a_whole_life_are_those_of_the_table(cases: Cases) -> None:
    await cases.toy()
    await cases.run()
    old = cases.pods()["g-worker-1"].uid
    await cases.set_pod("g-worker-1", "Failed", exit_code=137)
    await cases.until(lambda: (pod := cases.pods().get("g-worker-1")) and pod.uid != old)
    await cases.set_pod("g-worker-1")
    await cases.until(lambda: cases.has("Running"))
    for name in ("g-worker-0", "g-worker-1"):
        await cases.set_pod(name, "Succeeded", exit_code=0)
    await cases.until(lambda: cases.has("Succeeded"))
    assert [each for each in cases.vectors() if each] == TABLE
    await cases.remove_pod("g-worker-0")
    await cases.touch(ToyJob)
    assert cases.vectors()[-1] == TABLE[-1]
    transitions(cases.history)


async def test_c2_the_conditions_of_a_dgljobs_whole_life_are_those_of_the_table(cases: Cases) -> None:
    await cases.dgl()
    await cases.train()
    await cases.fail("g-worker-1", 137)
    await cases.until(lambda: cases.has("Restarting"))
    await cases.train()
    await cases.until(lambda: cases.has("Running"))
    cases.kubelet.done.add("g")
    await cases.played_until(lambda: cases.has("Succeeded"))
    base = {"Created", "Running", "Restarting", "Suspended", "Succeeded", "Failed"}
    found = [{key: each[key] for key in each if key in base} for each in cases.vectors()]
    seen = [each for number, each in enumerate(found) if each and each != ([{}, *found])[number]]
    assert seen == TABLE
    transitions(cases.history)


async def test_c4_a_dgljobs_name_of_49_characters_is_taken_and_one_of_50_refused(cases: Cases) -> None:
    await cases.dgl("g" * 49)
    await cases.until(lambda: "g" * 49 + "-partitioner-0" in cases.pods("g" * 49))
    with pytest.raises(InvalidError, match="-partitioner-0"):
        await cases.dgl("g" * 50)


async def test_c4_a_job_of_1000_workers_may_have_52_characters_and_is_told_which_pod_has_too_many(
    cases: Cases,
) -> None:
    place = {"name": "none", "namespace": cases.namespace}
    limits = {"hard": {"pods": "0"}}
    await cases.client.create(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": place, "spec": limits}
    )
    used = {"status": {**limits, "used": {"pods": "0"}}}
    await cases.client.patch(QUOTA, "none", cases.namespace, used, subresource="status")
    short, long = "a" * 52, "b" * 53
    await cases.toy(short, roles={"worker": 1000})
    await cases.toy(long, roles={"worker": 1000})
    await cases.until(lambda: cases.has("Failed", name=long))
    await cases.until(lambda: cases.has("Running", "False", name=short))
    failed = cases.job(long).status.get("Failed")
    assert failed.reason == "InvalidSpec"
    assert f"{long}-worker-999" in failed.message
    assert cases.job(short).status.get("Running").reason == "FailedCreatePod"  # the quota: the name is good
    assert not cases.has("Failed", name=short)


async def test_c7_a_job_made_again_takes_no_pod_of_the_old_one_and_asks_little_while_they_go(
    cases: Cases,
) -> None:
    old = await cases.dgl()
    await cases.train()
    for name in cases.pods():
        await cases.hold(name)
    await cases.client.delete(DGLJob, "g", cases.namespace)
    await cases.until(lambda: cases.dgljob() is None)
    await cases.collect(old.uid)
    new = await cases.dgl()
    await cases.until(lambda: (job := cases.dgljob()) and job.status.get("Running"))
    assert cases.dgljob().status.get("Running").reason == "ErrResourceExists"
    for name in cases.pods():
        await cases.free(name)
    await cases.train()
    assert {each.metadata.uid for each in cases.pods().values()}.isdisjoint({old.uid})
    listed = await cases.client.list(POD, cases.namespace)
    assert {each["metadata"]["ownerReferences"][0]["uid"] for each in listed} == {new.uid}
    assert sum(status == 409 and "/pods" in call for call, status in cases.wire.refused) <= 5


async def test_c8_a_foreign_pod_of_the_name_is_told_not_touched_and_waited_out(cases: Cases) -> None:
    place = {"name": "g-worker-0", "namespace": cases.namespace}
    foreign = await cases.client.create(
        {"apiVersion": "v1", "kind": "Pod", **pod_template(), "metadata": place}
    )
    await cases.dgl()
    await cases.played_until(lambda: cases.has("Running", "False"))
    assert cases.dgljob().status.get("Running").reason == "ErrResourceExists"
    assert not cases.has("Failed")
    await cases.until(lambda: "ErrResourceExists" in cases.event_reasons())
    found = await cases.client.get(POD, "g-worker-0", cases.namespace)
    assert found["metadata"] == foreign["metadata"]
    await cases.remove_pod("g-worker-0")
    await cases.train()


async def test_c9_scaled_in_pods_go_with_their_services_and_their_codes_count_nowhere(cases: Cases) -> None:
    await cases.toy(workers=4)
    await cases.until(lambda: len(cases.pods()) == 4)
    for name in list(cases.pods()):
        await cases.bind(name)
    await cases.run()
    fewer = {"spec": {"replicaSpecs": {"worker": {"replicas": 2}}}}
    await cases.client.patch(ToyJob, "g", cases.namespace, fewer)
    leaving = ("g-worker-2", "g-worker-3")
    await cases.until(lambda: all(cases.pods()[name].is_terminating for name in leaving))
    for name in leaving:
        await cases.set_pod(name, "Failed", exit_code=137)
        await cases.remove_pod(name)
    await cases.until(lambda: set(cases.pods()) == {"g-worker-0", "g-worker-1"})
    await cases.until(lambda: cases.services() == {"g-worker-0", "g-worker-1"})
    await cases.until(lambda: cases.count() == {"active": 2})
    assert not cases.has("Failed")
    assert cases.job().status.restart_count == 0

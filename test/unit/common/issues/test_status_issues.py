# SPDX-License-Identifier: Apache-2.0
"""Issues 19 to 26 of docs/issues.md: labels, conditions, names, expectations, and too many replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.common import CleanPodPolicy
from dglop.common.constants import POD, SERVICE
from dglop.common.observed import Observed
from dglop.common.plan import plan
from dglop.dgljob import DGLJob
from dglop.errors import InvalidError
from dglop.testing.builders import T0, make_pod_wire
from dglop.testing.toyjob import ToyJob, ToyJobKind

if TYPE_CHECKING:
    from dglop.testing.simulation import Simulation
    from test.unit.common.conftest import MakeJob, Simulate
    from test.unit.testing.conftest import MemoryCases


def selects(selector: dict[str, str], labels: dict[str, str]) -> bool:
    return selector.items() <= labels.items()


@pytest.mark.parametrize("kind", [ToyJob, DGLJob])
async def test_issue_19_pods_have_all_labels_that_they_are_looked_for_by(
    cases: MemoryCases, kind: type
) -> None:
    """Workers ran on, for they were looked for by others: kubeflow/trainer#1546."""
    if kind is DGLJob:
        await cases.dgl()
        await cases.train()
    else:
        await cases.toy(roles={"Launcher": 1, "Worker": 2})
        await cases.run()
    pods = {each["metadata"]["name"]: each["metadata"]["labels"] for each in await listed(cases, POD)}
    assert len(pods) == 3
    for role, counts in cases.either().status.replica_statuses.items():
        selector = dict(each.split("=") for each in counts.selector.split(","))
        of_role = {name for name in pods if f"-{role.lower()}-" in name}
        assert of_role
        assert {name for name, labels in pods.items() if selects(selector, labels)} == of_role
    for service in await listed(cases, SERVICE):
        name, selector = service["metadata"]["name"], service["spec"]["selector"]
        found = {pod for pod, labels in pods.items() if selects(selector, labels)}
        assert found == ({name} if kind is ToyJob else set(pods))


async def listed(cases: MemoryCases, kind: Any) -> list[dict[str, Any]]:
    return await cases.client.list(kind, cases.namespace)


def test_issue_19_workers_that_still_run_when_the_launcher_is_done_are_found_and_end(
    simulate: Simulate,
) -> None:
    roles = {"Launcher": 1, "Worker": 2}
    world = simulate(roles=roles, leader="Launcher", clean_pod_policy=CleanPodPolicy.RUNNING)
    world.run_all()
    world.settle()
    world.set_pod("Launcher", phase="Succeeded")
    world.settle()
    assert sorted(world.pods) == ["g-launcher-0"]


def happen(world: Simulation[ToyJob], what: str) -> None:
    match what:
        case "run":
            world.run_all()
        case "fail":
            world.set_pod(index=1, phase="Failed", exit_code=137)
        case "suspend" | "resume":
            world.job.spec.run_policy.suspend = what == "suspend"
        case "succeed":
            for index in (0, 1):
                world.set_pod(index=index, phase="Succeeded")
        case "end":
            world.set_pod(index=1, phase="Failed", exit_code=1)
        case "lose":
            world.delete_pod()
    world.settle()


CREATED = {"Created": "True"}
RAN = {**CREATED, "Running": "True"}
RESTARTING = {**CREATED, "Running": "False", "Restarting": "True"}
AGAIN = {**RESTARTING, "Running": "True", "Restarting": "False"}
SUSPENDED = {**AGAIN, "Running": "False", "Suspended": "True"}
RESUMED = {**SUSPENDED, "Suspended": "False"}
LIVES = {
    "success": [
        ("run", RAN),
        ("fail", RESTARTING),
        ("run", AGAIN),
        ("suspend", SUSPENDED),
        ("resume", RESUMED),
        ("run", {**RESUMED, "Running": "True"}),
        ("succeed", {**RESUMED, "Running": "False", "Succeeded": "True"}),
        ("lose", {**RESUMED, "Running": "False", "Succeeded": "True"}),
    ],
    "failure": [
        ("run", RAN),
        ("end", {**CREATED, "Running": "False", "Failed": "True"}),
        ("lose", {**CREATED, "Running": "False", "Failed": "True"}),
    ],
    "failure while restarting": [
        ("run", RAN),
        ("fail", RESTARTING),
        ("end", {**RESTARTING, "Restarting": "False", "Failed": "True"}),
    ],
    "suspended while restarting": [
        ("run", RAN),
        ("fail", RESTARTING),
        ("suspend", {**RESTARTING, "Restarting": "False", "Suspended": "True"}),
    ],
    "created suspended": [
        ("suspend", {**CREATED, "Suspended": "True"}),
        ("resume", {**CREATED, "Suspended": "False"}),
        ("run", {**RAN, "Suspended": "False"}),
    ],
}


@pytest.mark.parametrize("life", LIVES)
def test_issue_20_at_each_step_of_a_life_the_conditions_are_those_of_the_table(
    simulate: Simulate, life: str
) -> None:
    """They vanished and changed their order, and Restarting stayed: kubeflow/trainer#1711."""
    steps = LIVES[life]
    world = simulate(suspend=life == "created suspended")
    if life != "created suspended":
        assert world.conditions == CREATED
    for number, (what, wanted) in enumerate(steps):
        happen(world, what)
        assert world.conditions == wanted, f"step {number}: {what}"


async def test_issue_21_a_name_that_no_pod_could_have_is_refused_and_not_tried_for_ever(
    cases: MemoryCases,
) -> None:
    """The job stayed Created, and its pods were refused for ever: kubeflow/trainer#1101, jobset#408."""
    await cases.dgl("a" * 49)
    with pytest.raises(InvalidError, match="49"):
        await cases.dgl("b" * 50)
    await cases.toy("c" * 55, workers=1)  # "-worker-0": 64
    await cases.cluster.advance(600.0)
    failed = cases.job("c" * 55).status.get("Failed")
    assert failed.reason == "InvalidSpec"
    assert "64 characters, 63 are allowed" in failed.message
    assert cases.pods("c" * 55) == {}


@pytest.mark.parametrize("is_seen", [True, False], ids=["watched", "without its labels"])
async def test_issue_22_a_job_made_again_has_its_pod_within_six_seconds_of_the_old_ones_end(
    cases: MemoryCases, *, is_seen: bool
) -> None:
    """Old expectations and old pods held it up: kubeflow/trainer#1306, kubernetes#131917."""
    old = await cases.toy(workers=1)
    await cases.run()
    await cases.hold("g-worker-0")
    if not is_seen:
        await cases.client.patch(POD, "g-worker-0", cases.namespace, {"metadata": {"labels": None}})
    await cases.client.delete(ToyJob, "g", cases.namespace)
    await cases.collect(old.uid)
    new = await cases.toy(workers=1)
    await cases.cluster.advance(30.0)
    assert cases.job().status.get("Running").reason == "ErrResourceExists"
    assert len(cases.events("ErrResourceExists")) == 1
    await cases.free("g-worker-0")
    await cases.cluster.advance(6.0)
    (pod,) = await listed(cases, POD)
    assert pod["metadata"]["ownerReferences"][0]["uid"] == new.uid


def test_issue_23_a_role_that_the_cache_lags_behind_holds_up_neither_another_nor_the_status(
    make_job: MakeJob,
) -> None:
    """With "and" jobs hung, with "or" pods were made twice: kubeflow/trainer#1120."""
    job = make_job(roles={"partitioner": 1, "worker": 2})
    made = plan(job, Observed(unsettled=frozenset({"worker"})), T0, ToyJobKind())
    assert [each.name for each in made.creates] == ["g-partitioner-0"]
    assert made.status.is_true("Created")
    assert made.status.start_time == T0


def hold(cases: MemoryCases, *kinds: str) -> None:
    """Let the Manager's cache show nothing new of these."""
    for watcher in cases.cluster.server.watchers:
        if watcher.storage in kinds:
            watcher.hold()


async def test_issue_23_a_role_that_the_cache_lags_behind_gets_no_pod_twice(cases: MemoryCases) -> None:
    hold(cases, "pods")
    await cases.toy()
    for _ in range(5):
        await cases.touch(ToyJob)
    assert cases.pods() == {}
    assert cases.wire.count("POST", "/pods") == 2


async def test_issue_24_an_event_of_a_service_is_no_sign_of_a_pod(cases: MemoryCases) -> None:
    """It lowered what was expected of the pods: kubeflow/xgboost-operator#78."""
    hold(cases, "pods", "services")
    await cases.toy(workers=1)
    await cases.rest()
    assert cases.services() == set()
    for watcher in cases.cluster.server.watchers:
        if watcher.storage == "services":
            watcher.release()
    await cases.rest()
    assert cases.services() == {"g-worker-0"}  # named and labelled as the pod, and seen
    await cases.touch(ToyJob)
    assert cases.wire.count("POST", "/pods") == 1


def test_issue_25_of_a_gap_above_the_replicas_nothing_is_made_and_what_is_beyond_goes(
    simulate: Simulate,
) -> None:
    """Index 2 stayed after a scaling to 2, and gaps were filled: kubeflow/common#59."""
    world = simulate(workers=1)
    world.pods["g-worker-4"] = make_pod_wire("worker", 4)
    world.services["g-worker-4"] = {"metadata": {"name": "g-worker-4", "uid": "s4"}}
    del world.pods["g-worker-0"]
    world.job.status.replica_statuses["worker"].created_indexes = ""
    world.creates.clear()
    world.settle()
    assert world.creates == ["g-worker-0"]
    assert sorted(world.deletes) == ["g-worker-4", "service/g-worker-4"]


def test_issue_26_pods_that_scaling_in_ends_with_137_fail_nothing(simulate: Simulate) -> None:
    """The job failed: kubeflow/trainer#2070."""
    world = simulate(workers=4, deletes_at_once=False, backoff_limit=0)
    world.run_all()
    world.settle()
    world.job.spec.replica_specs["worker"].replicas = 2
    world.settle()
    for index in (2, 3):
        world.set_pod(index=index, phase="Failed", exit_code=137)
    world.settle()
    world.finish_deletions()
    world.settle()
    assert not world.status.is_true("Failed")
    assert world.status.restart_count == 0
    assert world.status.replica_statuses["worker"].active == 2
    assert sorted(world.pods) == ["g-worker-0", "g-worker-1"]

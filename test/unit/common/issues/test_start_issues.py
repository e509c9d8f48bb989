# SPDX-License-Identifier: Apache-2.0
"""Issues 30 to 35 of docs/issues.md: what keeps pods from being made or from running."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.common.constants import POD
from dglop.dgljob import DGLJob
from dglop.runtime.api import Resource
from dglop.runtime.api.times import format_time
from dglop.testing.builders import container_status, pod_template
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.unit.testing.conftest import MemoryCases

ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")


@pytest.mark.parametrize("kind", [ToyJob, DGLJob])
async def test_issue_30_a_service_account_of_the_users_is_respected_and_none_is_made(
    cases: MemoryCases, kind: type
) -> None:
    """The launcher's was overwritten: kubeflow/trainer#1897, mpi-operator#394."""
    template = pod_template("dgl" if kind is DGLJob else "main", serviceAccountName="cnvrg")
    if kind is DGLJob:
        await cases.dgl(template=template)
        await cases.train()
    else:
        await cases.toy(template=template)
        await cases.run()
    pods = await cases.client.list(POD, cases.namespace)
    workers = {
        each["metadata"]["name"]: each["spec"] for each in pods if "worker" in each["metadata"]["name"]
    }
    assert {each["serviceAccountName"] for each in workers.values()} == {"cnvrg"}
    assert await cases.client.list(ACCOUNT, cases.namespace) == []


async def launched(cases: MemoryCases) -> bool:
    return any("launcher" in name for name in cases.pods())


async def test_issue_31_a_launcher_comes_after_all_workers_are_ready_also_when_resumed(
    cases: MemoryCases,
) -> None:
    """It came before them, and none of none was enough after a suspension: mpi-operator#386, #482, #868."""
    worker = {"replicas": 2, "template": pod_template("dgl"), "restartPolicy": "ExitCode"}
    specs = {"Worker": worker, "Partitioner": {"template": pod_template("dgl")}}
    specs["Launcher"] = {"template": pod_template("dgl")}
    place = {"name": "g", "namespace": cases.namespace}
    wire: dict[str, Any] = {"apiVersion": DGLJob.resource.api_version, "kind": "DGLJob", "metadata": place}
    await cases.client.create({**wire, "spec": {"dglReplicaSpecs": specs}})
    for _ in range(2):
        await cases.played_until(lambda: cases.dgljob().status.is_latched)
        await cases.until(lambda: {"g-worker-0", "g-worker-1"} <= set(cases.pods()))
        status = {"phase": "Running", "containerStatuses": [container_status("dgl", ready=True)]}
        for name in ("g-worker-0", "g-worker-1"):
            await cases.cluster.advance(30.0)
            assert not await launched(cases)
            await cases.client.patch(POD, name, cases.namespace, {"status": status}, subresource="status")
        await cases.until(lambda: "g-launcher-0" in cases.pods())
        await cases.change(DGLJob, suspend=True)
        await cases.until(lambda: not cases.pods())
        await cases.change(DGLJob, suspend=False)


async def test_issue_32_a_queues_next_flavour_takes_the_place_of_the_last_one(cases: MemoryCases) -> None:
    """Selectors of flavours before stayed: mpi-operator#770, #687, jobset#1294, kueue#2691."""
    await cases.toy(suspend=True)
    for flavour in ("a", "b"):
        template = pod_template(nodeSelector={"flavour": flavour})
        spec = {"runPolicy": {"suspend": False}, "replicaSpecs": {"worker": {"template": template}}}
        await cases.client.patch(ToyJob, "g", cases.namespace, {"spec": spec})
        await cases.rest()
        await cases.run()
        pods = await cases.client.list(POD, cases.namespace)
        assert [each["spec"]["nodeSelector"] for each in pods] == [{"flavour": flavour}] * 2
        plain: dict[str, Any] = {"template": pod_template(nodeSelector=None)}
        await cases.client.patch(
            ToyJob,
            "g",
            cases.namespace,
            {"spec": {"runPolicy": {"suspend": True}, "replicaSpecs": {"worker": plain}}},
        )
        await cases.until(lambda: not cases.pods())


async def test_issue_33_an_image_that_never_comes_is_told_and_ends_the_job_at_its_start_deadline(
    cases: MemoryCases,
) -> None:
    """The job was Created for ever, and nothing said why: kubeflow/trainer#2001."""
    await cases.toy(start_deadline_seconds=600)
    await cases.until(lambda: len(cases.pods()) == 2)
    await cases.set_pod("g-worker-1")
    words = {"waiting": "ImagePullBackOff", "waiting_message": "no such image"}
    await cases.set_pod("g-worker-0", "Pending", **words)
    await cases.cluster.advance(5.0)
    running = cases.job().status.get("Running")
    assert (running.status, running.reason) == ("False", "ImagePullBackOff")
    assert len(cases.events("ImagePullBackOff")) == 1
    await cases.cluster.advance(590.0)
    assert not cases.has("Failed")
    await cases.cluster.advance(6.0)
    failed = cases.job().status.get("Failed")
    assert failed.reason == "StartDeadlineExceeded"
    assert "ImagePullBackOff" in failed.message
    assert cases.job().status.completion_time is not None


def malformed() -> list[Any]:
    """Specs as an older schema may have let them in."""
    role, template = "worker", pod_template()
    policies: list[Any] = [
        {"activeDeadlineSeconds": -5},
        {"backoffLimit": "many"},
        {"ttlSecondsAfterFinished": -1},
        {"cleanPodPolicy": "Some"},
        {"suspend": "perhaps"},
        {"schedulingPolicy": 7},
        [],
    ]
    specs: list[Any] = [
        {"replicas": -1, "template": template},
        {"replicas": "two", "template": template},
        {"replicas": 1, "template": []},
        {"replicas": 1, "template": {"spec": {}}},
        {"replicas": 1, "template": {"spec": {"containers": []}}},
        {"replicas": 1, "template": {"spec": {"containers": "main"}}},
        {"replicas": 1, "template": {"spec": {"containers": [7]}}},
        {"replicas": 1, "restartPolicy": "Sometimes", "template": template},
        "worker",
    ]
    found: list[Any] = [
        {"runPolicy": each, "replicaSpecs": {role: {"template": template}}} for each in policies
    ]
    found += [{"replicaSpecs": {role: each}} for each in specs]
    return [*found, {"replicaSpecs": []}, {"replicaSpecs": {}}, {}, "nothing"]


async def test_issue_34_twenty_malformed_jobs_end_by_themselves_and_a_healthy_one_goes_on(
    cases: MemoryCases,
) -> None:
    """One crashed the operator for all: pytorch-operator#321, kubeflow/trainer#813, #706, #1192, #1553."""
    specs = malformed()
    assert len(specs) == 20
    store, moment = cases.cluster.server.store, format_time(cases.cluster.clock.now())
    for number, spec in enumerate(specs):
        place = {"name": f"bad-{number}", "namespace": cases.namespace, "uid": f"bad-{number}"}
        metadata = {**place, "generation": 1, "creationTimestamp": moment}
        wire = {"apiVersion": "example.dev/v1", "kind": "TestJob", "metadata": metadata, "spec": spec}
        store.put("testjobs.example.dev", wire)
    await cases.toy()
    await cases.run()
    for name in ("g-worker-0", "g-worker-1"):
        await cases.set_pod(name, "Succeeded", exit_code=0)
    await cases.cluster.advance(60.0)
    assert cases.has("Succeeded")
    told = {each["regarding"]["name"] for each in cases.events("InvalidSpec")}
    assert told == {f"bad-{number}" for number in range(20)}
    untaken = {call.split("/")[-2] for call, status in cases.wire.refused if status == 422}
    assert len(untaken) < 5
    for number, spec in enumerate(specs):
        found = await cases.client.get(ToyJob.resource, f"bad-{number}", cases.namespace)
        conditions = {each["type"]: each for each in found.get("status", {}).get("conditions", [])}
        # Where the server takes no status with such a spec, the event has to do.
        assert f"bad-{number}" in untaken or conditions["Failed"]["reason"] == "InvalidSpec", spec
    asked = len(cases.wire.sent)
    await cases.cluster.advance(600.0)
    assert len(cases.wire.sent) == asked


async def test_issue_35_a_quota_is_asked_ever_more_seldom_and_the_job_goes_on_when_it_has_room(
    cases: MemoryCases,
) -> None:
    """The status stayed empty, or the siblings went: kubeflow/trainer#2351, paddle-operator#43."""
    faults, message = cases.cluster.server.faults, "exceeded quota: few"
    order = faults.add(403, "POST", POD, skip=1, times=20, message=message)
    await cases.toy(workers=2)
    await cases.rest()
    first = next(each.status for each in cases.history if each.status.conditions)
    assert first.is_true("Created")
    await cases.cluster.advance(600.0)
    assert 6 <= order.hits <= 12
    (event,) = cases.events("FailedCreatePod")
    assert message in event["note"]
    assert len(cases.pods()) == 1
    await cases.cluster.advance(3600.0)
    assert order.hits == 20
    assert len(cases.pods()) == 2
    assert [each for each in cases.wire.sent if each.startswith("DELETE")] == []
    await cases.run()

# SPDX-License-Identifier: Apache-2.0
"""The rules of the shipped DGLJob CRD, as a real API server evaluates and words them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.dgljob import DGLJob
from dglop.errors import InvalidError

if TYPE_CHECKING:
    from dglop.runtime.client import Client

_TEMPLATE = {"spec": {"containers": [{"name": "dgl", "image": "i", "command": ["c"]}]}}
_CLAIM = {"type": "PVC", "claimName": "parts"}
_ONE = {"replicas": 1, "template": _TEMPLATE}
_WORKER = {"Worker": {"replicas": 2, "template": _TEMPLATE}}
_NEEDED = "Worker with at least one replica is needed unless partitionMode is Skip"


def _by(placement: str) -> dict[str, Any]:
    return {"partition": {"placement": placement}, "storage": _CLAIM}


def _job(namespace: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubeflow.org/v1alpha1",
        "kind": "DGLJob",
        "metadata": {"name": "g", "namespace": namespace},
        "spec": {"dglReplicaSpecs": _WORKER, **spec},
    }


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"dglReplicaSpecs": {**_WORKER, "Boss": _ONE}}, "dglReplicaSpecs may have only Launcher, Worker"),
        ({"dglReplicaSpecs": {}}, _NEEDED),
        ({"dglReplicaSpecs": {"Launcher": _ONE}}, _NEEDED),
        ({"dglReplicaSpecs": {"Worker": {**_ONE, "replicas": 0}}}, _NEEDED),
        ({"dglReplicaSpecs": {}, "partitionMode": "Skip"}, "Skip needs a Launcher, or Workers on existing"),
        ({"partitionMode": "Skip", "storage": _CLAIM}, "needs storage.existing: true and a claim"),
        ({"dglReplicaSpecs": {**_WORKER, "Launcher": {**_ONE, "replicas": 2}}}, "Launcher has one replica"),
        ({"dglReplicaSpecs": {**_WORKER, "Partitioner": {"replicas": 2}}}, "Partitioner has one replica"),
        ({"dglReplicaSpecs": {**_WORKER, "Partitioner": _ONE}, "partitionMode": "MSP"}, "none where"),
        ({"dglReplicaSpecs": {**_WORKER, "Sampler": _ONE}}, "need trainingLayout TriWorkload"),
        ({"numPartitions": 3}, "numPartitions must match dglReplicaSpecs.Worker.replicas"),
        ({"numPartitions": 3, "partitionMode": "MSP"}, "leave it out or write the same"),
        (
            {"numPartitions": 3, "partitionMode": "Skip", "storage": {**_CLAIM, "existing": True}},
            "numPartitions must match",
        ),
        ({"partition": {"placement": "Worker"}}, "Launcher and Worker are for SSP and SMP, and need storage"),
        ({**_by("Worker"), "partitionMode": "MSP"}, "Launcher and Worker are for SSP and SMP"),
        (_by("Launcher"), "Launcher needs a Launcher, and Worker has no Partitioner"),
        (
            {**_by("Worker"), "dglReplicaSpecs": {**_WORKER, "Partitioner": _ONE}},
            "Worker has no Partitioner",
        ),
        (
            {"failureRules": [{"name": "a", "action": "Fail", "onExitCodes": [256]}]},
            "less than or equal to 255",
        ),
        (
            {"failureRules": [{"name": "a", "action": "Fail", "targetReplicas": ["Driver"]}]},
            "targetReplicas of failureRules may name only",
        ),
        ({"storage": {"type": "HostPath"}}, "storage of type HostPath needs hostPath"),
        ({"storage": {"hostPath": "/srv"}}, "storage of type HostPath needs hostPath, and no other"),
        ({"storage": {**_CLAIM, "existing": True}}, "storage.existing needs partitionMode Skip"),
        ({"numServers": 40}, "numServers is larger than network.portCount"),
        ({"elasticPolicy": {}}, "elasticPolicy is reserved and must be unset"),
    ],
)
async def test_a_mistake_is_refused_in_its_own_words(
    client: Client, namespace: str, spec: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidError, match=message) as refused:
        await client.create(_job(namespace, **spec))
    assert str(refused.value).count("Invalid value") == 1


async def test_two_failure_rules_cannot_have_one_name(client: Client, namespace: str) -> None:
    with pytest.raises(InvalidError, match=r"failureRules\[1\]: Duplicate value"):
        await client.create(_job(namespace, failureRules=[{"name": "a", "action": "Fail"}] * 2))


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"numPartitions": 2, "numServers": 20},
        {"dglReplicaSpecs": {**_WORKER, "Launcher": _ONE, "Partitioner": _ONE}},
        {"dglReplicaSpecs": {**_WORKER, "Sampler": _ONE}, "trainingLayout": "TriWorkload"},
        {"dglReplicaSpecs": {"Launcher": _ONE}, "partitionMode": "Skip"},
        {"partitionMode": "Skip", "storage": {**_CLAIM, "existing": True}},
        {"partitionMode": "MSP"},
        {"partitionMode": "MSP", "numPartitions": 2},
        {"partitionMode": "ParMETIS", "partition": {"processes": 4, "retainOnRestart": False}},
        _by("Worker"),
        {**_by("Launcher"), "dglReplicaSpecs": {**_WORKER, "Launcher": _ONE, "Partitioner": _ONE}},
        {"storage": {"type": "HostPath", "hostPath": "/srv/parts"}},
        {"failureRules": [{"name": "a", "action": "Fail", "onExitCodes": [3], "targetReplicas": ["Worker"]}]},
    ],
)
async def test_what_is_right_is_taken(client: Client, namespace: str, spec: dict[str, Any]) -> None:
    await client.create(_job(namespace, **spec))


_WHILE = "can be changed only while the job is suspended"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dglReplicaSpecs": {"Worker": {"replicas": 3}}}, f"replica types and their replicas {_WHILE}"),
        ({"dglReplicaSpecs": {"Launcher": _ONE}}, f"replica types and their replicas {_WHILE}"),
        ({"slotsPerWorker": 2}, f"slotsPerWorker, numServers, numSamplers, network {_WHILE}"),
        ({"network": {"masterPort": 1234}}, f"slotsPerWorker, numServers, numSamplers, network {_WHILE}"),
        ({"dataset": {"name": "synthetic"}}, "dataset cannot be changed after creation"),
        ({"dataset": None}, "dataset cannot be changed after creation"),
        ({"partition": {"placement": "Worker"}}, "placement: Invalid value.*cannot be changed"),
        ({"launchMode": "MPI"}, "launchMode: Invalid value.*cannot be changed after creation"),
        ({"runPolicy": {"backoffLimit": 9}, "workspace": "/w"}, None),
    ],
)
async def test_what_a_job_began_with_stays(
    client: Client, namespace: str, change: dict[str, Any], message: str | None
) -> None:
    await client.create(_job(namespace, dataset={"name": "digits"}))
    if message is None:
        await client.patch(DGLJob.resource, "g", namespace, {"spec": change})
        return
    with pytest.raises(InvalidError, match=message):
        await client.patch(DGLJob.resource, "g", namespace, {"spec": change})


async def test_sizes_may_change_while_a_job_is_suspended_and_as_it_is_resumed(
    client: Client, namespace: str
) -> None:
    await client.create(_job(namespace, runPolicy={"suspend": True}))
    changes: tuple[dict[str, Any], ...] = (
        {"dglReplicaSpecs": {"Worker": {"replicas": 3}, "Launcher": _ONE}, "slotsPerWorker": 2},
        {"dglReplicaSpecs": {"Worker": {"replicas": 4}}, "runPolicy": {"suspend": False}},
    )
    for change in changes:
        await client.patch(DGLJob.resource, "g", namespace, {"spec": change})

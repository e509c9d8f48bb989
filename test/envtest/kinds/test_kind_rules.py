# SPDX-License-Identifier: Apache-2.0
"""The CRDs of PyTorchJob and MPIJob: Kubeflow's own manifests are taken, and mistakes are worded."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
import yaml

from dglop.errors import InvalidError
from dglop.mpijob import MPIJob
from dglop.pytorchjob import PyTorchJob
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from examples.xgboostjob import XGBoostJob
from test.envtest.kinds.world import KINDS, manifest

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

_ROOT = Path(__file__).parents[3]
_MANIFESTS = Path(__file__).parent / "manifests"
_TEMPLATE = {"spec": {"containers": [{"name": "pytorch", "image": "i"}]}}
_WHILE = "can be changed only while the job is suspended"
_ONE = {"replicas": 1, "template": _TEMPLATE}
_TWO = {"replicas": 2, "template": _TEMPLATE}


@pytest_asyncio.fixture
async def here(client: Client, namespace: str) -> Client:
    """The client, bound to a namespace, while both kinds are served."""
    await install_crds(client, [PyTorchJob, MPIJob], SystemClock())
    return client.in_namespace(namespace)


def _apply(server: Envtest, text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """What `kubectl apply` says, strict about fields that the CRD does not know."""
    kubectl = Path(os.environ["KUBEBUILDER_ASSETS"]) / "kubectl"
    command = [str(kubectl), "--kubeconfig", str(server.kubeconfig), "apply", "--dry-run=server"]
    return subprocess.run(
        [*command, "--validate=strict", "-f", "-", *flags],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", sorted(each.name for each in _MANIFESTS.glob("*job-*.yaml")))
@pytest.mark.usefixtures("here")
async def test_kubeflows_own_manifest_is_applied_as_it_is(
    server: Envtest, client: Client, namespace: str, name: str
) -> None:
    text = (_MANIFESTS / name).read_text()
    place = yaml.safe_load(text)["metadata"].get("namespace")
    if place:
        await client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}})
    done = _apply(server, text, *([] if place else ["-n", namespace]))
    assert done.returncode == 0, done.stderr
    assert "created (server dry run)" in done.stdout


@pytest.mark.usefixtures("here")
async def test_an_elastic_job_of_kubeflows_is_refused_in_a_sentence(server: Envtest, namespace: str) -> None:
    done = _apply(server, (_MANIFESTS / "elastic-echo.yaml").read_text(), "-n", namespace)
    assert done.returncode != 0
    assert "elasticPolicy is not supported: this operator runs PyTorchJobs of a fixed size" in done.stderr


async def test_the_kind_that_is_an_example_is_taken_and_holds_its_rules(here: Client, namespace: str) -> None:
    await install_crds(here, [XGBoostJob], SystemClock())
    wire = yaml.safe_load((_ROOT / "examples" / "xgboostjob.yaml").read_text())
    wire["metadata"]["namespace"] = namespace
    await here.create(wire)
    for change, message in (({"Worker": {"replicas": 3}}, _WHILE), ({"Boss": _ONE}, "at most 2 items")):
        with pytest.raises(InvalidError, match=message):
            await here.patch(XGBoostJob.resource, "iris", namespace, {"spec": {"xgbReplicaSpecs": change}})


async def test_the_crds_in_the_components_are_those_of_the_classes(here: Client) -> None:
    for kind in ("pytorchjob", "mpijob"):
        path = _ROOT / "config" / "components" / kind / "crd.yaml"
        made = await here.dry_run().apply(yaml.safe_load(path.read_text()))
        assert made["spec"]["names"]["plural"] == f"{kind}s"


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("PyTorchJob", {"elasticPolicy": {}}, "elasticPolicy is not supported"),
        ("PyTorchJob", {"pytorchReplicaSpecs": {}}, "needs a Master, Workers, or both"),
        ("PyTorchJob", {"pytorchReplicaSpecs": {"master": _ONE}}, "may have only Master, Worker"),
        ("PyTorchJob", {"pytorchReplicaSpecs": {"Master": _TWO}}, "Master has one replica"),
        ("PyTorchJob", {"nprocPerNode": "many"}, "nprocPerNode"),
        ("PyTorchJob", {"runPolicy": {"managedBy": "kubeflow.org/mpi-operator"}}, "managedBy may be"),
        ("PyTorchJob", {"runPolicy": {"cleanPodPolicy": "Some"}}, "cleanPodPolicy"),
        ("MPIJob", {"mpiReplicaSpecs": {"Worker": _ONE}}, "Launcher is needed and has one replica"),
        ("MPIJob", {"mpiReplicaSpecs": {"Launcher": _TWO}}, "Launcher is needed and has one replica"),
        (
            "MPIJob",
            {"mpiReplicaSpecs": {"Launcher": _ONE, "Worker": {**_ONE, "replicas": 0}}},
            "Worker.replicas must be 1 or more",
        ),
        ("MPIJob", {"mpiReplicaSpecs": {"Launcher": _ONE, "Boss": _ONE}}, "may have only Launcher, Worker"),
        (
            "MPIJob",
            {"mpiReplicaSpecs": {"Launcher": {**_ONE, "restartPolicy": "ExitCode"}}},
            "restartPolicy of an MPIJob is Never or OnFailure",
        ),
        ("MPIJob", {"mpiImplementation": "LAM"}, "mpiImplementation"),
        ("MPIJob", {"launcherCreationPolicy": "Later"}, "launcherCreationPolicy"),
        ("MPIJob", {"slotsPerWorker": 0}, "slotsPerWorker"),
        ("MPIJob", {"sshAuthMountPath": "keys"}, "sshAuthMountPath"),
        ("MPIJob", {"runPolicy": {"managedBy": "kubeflow.org/training-operator"}}, "managedBy may be"),
    ],
)
async def test_a_mistake_is_refused_in_its_own_words(
    here: Client, namespace: str, kind: str, spec: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidError, match=message):
        await here.create(manifest(kind, "g", namespace, **spec))


@pytest.mark.parametrize(("kind", "most"), [("PyTorchJob", 54), ("MPIJob", 52)])
async def test_a_name_must_leave_room_for_those_of_the_pods(
    here: Client, namespace: str, kind: str, most: int
) -> None:
    await here.create(manifest(kind, "g" * most, namespace))
    with pytest.raises(InvalidError, match=f"the name is longer than {most} characters"):
        await here.create(manifest(kind, "g" * (most + 1), namespace))
    with pytest.raises(InvalidError, match="must start with a letter"):
        await here.create(manifest(kind, "1g", namespace))


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("PyTorchJob", {"pytorchReplicaSpecs": {"Worker": {"replicas": 3}}}, f"their replicas {_WHILE}"),
        ("PyTorchJob", {"pytorchReplicaSpecs": {"Worker": None}}, f"their replicas {_WHILE}"),
        (
            "PyTorchJob",
            {"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}},
            "managedBy cannot be changed",
        ),
        ("PyTorchJob", {"runPolicy": {"backoffLimit": 3}}, None),
        ("MPIJob", {"mpiReplicaSpecs": {"Worker": {"replicas": 3}}}, f"their replicas {_WHILE}"),
        ("MPIJob", {"slotsPerWorker": 3}, f"mpiImplementation {_WHILE}"),
        ("MPIJob", {"sshAuthMountPath": "/keys"}, f"mpiImplementation {_WHILE}"),
        ("MPIJob", {"runPolicy": {"ttlSecondsAfterFinished": 3}}, None),
    ],
)
async def test_what_a_job_began_with_stays_until_it_is_suspended(
    here: Client, namespace: str, kind: str, change: dict[str, Any], message: str | None
) -> None:
    resource = KINDS[kind].resource
    await here.create(manifest(kind, "g", namespace))
    if message is not None:
        with pytest.raises(InvalidError, match=message):
            await here.patch(resource, "g", namespace, {"spec": change})
        if "managedBy" in json.dumps(change):
            return
        await here.patch(resource, "g", namespace, {"spec": {"runPolicy": {"suspend": True}}})
    await here.patch(resource, "g", namespace, {"spec": change})


async def test_the_defaults_are_kubeflows(here: Client, namespace: str) -> None:
    made = (await here.create(manifest("PyTorchJob", "g", namespace)))["spec"]
    assert made["nprocPerNode"] == "auto"
    assert made["runPolicy"] == {"cleanPodPolicy": "None", "suspend": False}
    made = (await here.create(manifest("MPIJob", "g", namespace)))["spec"]
    del made["mpiReplicaSpecs"]
    assert made == {
        "runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 6, "suspend": False},
        "slotsPerWorker": 1,
        "runLauncherAsWorker": False,
        "sshAuthMountPath": "/root/.ssh",
        "launcherCreationPolicy": "AtStartup",
        "mpiImplementation": "OpenMPI",
    }

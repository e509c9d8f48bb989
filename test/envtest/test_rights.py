# SPDX-License-Identifier: Apache-2.0
"""The operator under the rights that are shipped, for the whole cluster and for one namespace."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from dglop.errors import NotFoundError
from dglop.runtime.api import Resource
from dglop.runtime.client import PatchType

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

_ROOT = Path(__file__).resolve().parents[2]
_POD = Resource("", "v1", "Pod", "pods")
_JOB = Resource("kubeflow.org", "v1alpha1", "DGLJob", "dgljobs")
_RIGHTS = {"Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}


def _manifests(overlay: str) -> list[dict[str, Any]]:
    """What `kubectl apply -k` of the overlay would install."""
    kubectl = Path(os.environ["KUBEBUILDER_ASSETS"]) / "kubectl"
    done = subprocess.run(
        [str(kubectl), "kustomize", str(_ROOT / "config" / overlay)],
        check=True,
        capture_output=True,
        text=True,
    )
    return [each for each in yaml.safe_load_all(done.stdout) if each]


async def _install_rights(client: Client, manifests: list[dict[str, Any]]) -> None:
    for manifest in manifests:
        if manifest["kind"] in _RIGHTS:
            await client.apply(manifest)


async def _token(client: Client, namespace: str, account: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = await client.raw("POST", path, body=json.dumps(body).encode())
    return str(json.loads(answer)["status"]["token"])


async def _start(kubeconfig: Path, log: Path, *flags: str) -> asyncio.subprocess.Process:
    """The shipped program as a process of its own."""
    binds = ("--metrics-bind=0", "--health-bind=0", "--progress-bind=127.0.0.1:0")
    command = [sys.executable, "-m", "dglop", "operator", f"--kubeconfig={kubeconfig}", *binds, *flags]
    environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    output = await asyncio.to_thread(log.open, "wb")
    try:
        return await asyncio.create_subprocess_exec(*command, stdout=output, stderr=output, env=environment)
    finally:
        output.close()


@contextlib.asynccontextmanager
async def _operator(kubeconfig: Path, log: Path, *flags: str) -> AsyncIterator[None]:
    process = await _start(kubeconfig, log, *flags)
    try:
        yield
    finally:
        process.terminate()
        code = await process.wait()
    assert code == 0, log.read_text()  # noqa: ASYNC240


def _launcher(namespace: str) -> dict[str, Any]:
    container = {"name": "main", "image": "example.dev/any", "command": ["true"]}
    specs = {"Launcher": {"template": {"spec": {"containers": [container]}}}}
    return {
        "apiVersion": "kubeflow.org/v1alpha1",
        "kind": "DGLJob",
        "metadata": {"name": "alone", "namespace": namespace},
        "spec": {"partitionMode": "Skip", "dglReplicaSpecs": specs},
    }


async def _until(probe: Callable[[], Awaitable[bool]]) -> None:
    while not await probe():  # noqa: ASYNC110 - the server is another process
        await asyncio.sleep(0.05)


async def _has_pod(client: Client, namespace: str) -> bool:
    try:
        await client.get(_POD, "alone-launcher-0", namespace)
    except NotFoundError:
        return False
    return True


async def _phase(client: Client, namespace: str) -> str:
    job = await client.get(_JOB, "alone", namespace)
    return str(job.get("status", {}).get("phase", ""))


async def _run_to_the_end(client: Client, namespace: str) -> None:
    """Play the kubelet for the one pod of the job."""
    await client.create(_launcher(namespace))
    await _until(lambda: _has_pod(client, namespace))
    ended = {"name": "main", "state": {"terminated": {"exitCode": 0}}, "ready": False, "restartCount": 0}
    ended |= {"image": "example.dev/any", "imageID": ""}
    status = {"phase": "Succeeded", "containerStatuses": [ended]}
    await client.patch(
        _POD, "alone-launcher-0", namespace, {"status": status}, how=PatchType.MERGE, subresource="status"
    )

    async def completed() -> bool:
        return await _phase(client, namespace) == "Completed"

    await _until(completed)


@pytest.mark.parametrize("overlay", ["default", "namespaced"])
async def test_the_shipped_rights_are_enough_and_all_the_operator_asks_for(
    server: Envtest, client: Client, namespace: str, tmp_path: Path, overlay: str
) -> None:
    manifests = _manifests(overlay)
    await _install_rights(client, manifests)
    deployment = next(each for each in manifests if each["kind"] == "Deployment")
    home = deployment["metadata"]["namespace"]
    token = await _token(client, home, deployment["spec"]["template"]["spec"]["serviceAccountName"])
    kubeconfig = server.kubeconfig_for(token, overlay)
    flags = ["--leader-elect", f"--leader-election-namespace={home}"]
    if overlay == "namespaced":
        assert not [each for each in manifests if each["kind"].startswith("Cluster")]
        flags.append(f"--namespace={home}")
    log = tmp_path / "operator.log"
    place = namespace if overlay == "default" else home
    async with _operator(kubeconfig, log, *flags):
        if overlay == "namespaced":
            await client.create(_launcher(namespace))
        await _run_to_the_end(client, place)
        if overlay == "namespaced":
            assert not await _has_pod(client, namespace), "touched a job of another namespace"
            assert await _phase(client, namespace) == ""
    assert "403" not in log.read_text()

# SPDX-License-Identifier: Apache-2.0
"""DGLJobs with launchMode Exec under the shipped operator: what their Launchers may do on a real server."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dgljob import DGLJob
from dglop.dgljob.exec.objects import EXEC_RULES, account_objects
from dglop.errors import ForbiddenError, NotFoundError
from dglop.runtime.api import Resource, role_binding_manifest, role_manifest
from dglop.runtime.client import Client, ClientConfig
from dglop.testing.builders import pod_template
from test.envtest.kubelet import Kubelet
from test.envtest.shipped import OVERLAYS, operator_with
from test.envtest.underrights import install_rights, operator_under, rendered, token_of

if TYPE_CHECKING:
    from dglop.testing.envtest import Envtest

_DEFAULT = Path(__file__).parents[3] / "config" / "default"
_QUIET = ("--metrics-bind=0", "--health-bind=0", "--progress-bind=0")
_SECONDS = 60  # only ends what hangs
_CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")
_ROLE = Resource("rbac.authorization.k8s.io", "v1", "Role", "roles")
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def _job(namespace: str, name: str = "g") -> dict[str, Any]:
    return {
        "apiVersion": DGLJob.resource.api_version,
        "kind": "DGLJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "launchMode": "Exec",
            "dataset": {"name": "digits"},
            "dglReplicaSpecs": {
                "Launcher": {"template": pod_template()},
                "Worker": {"replicas": 2, "template": pod_template()},
            },
        },
    }


class _Addressing(Kubelet):
    """Gives pods addresses."""

    def _status(self, pod: dict[str, Any]) -> dict[str, Any]:
        ip = f"10.0.0.{sum(pod['metadata']['name'].encode()) % 250 + 1}"
        return {**super()._status(pod), "podIP": ip, "podIPs": [{"ip": ip}]}


async def _may(client: Client, user: str, namespace: str, **attributes: str) -> bool:
    spec = {"user": user, "resourceAttributes": {"namespace": namespace, **attributes}}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    answer = json.loads(await client.raw("POST", _REVIEWS, body=json.dumps(review).encode()))
    return bool(answer["status"]["allowed"])


async def _until(client: Client, namespace: str, *phases: str) -> dict[str, Any]:
    while True:
        job = await client.get(DGLJob.resource, "g", namespace)
        if job.get("status", {}).get("phase") in phases:
            return job
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("overlay", OVERLAYS)
async def test_a_launcher_may_run_commands_in_its_own_workers_and_nowhere_else(
    server: Envtest, client: Client, namespace: str, tmp_path: Path, *, overlay: str
):
    kubelet = _Addressing(client, namespace)
    async with (
        operator_with("exec", server, client, tmp_path, namespace=namespace, overlay=overlay),
        kubelet.at_work(),
        asyncio.timeout(_SECONDS),
    ):
        await client.create(_job(namespace))
        job = await _until(client, namespace, "Completed", "Failed")
    assert job["status"]["phase"] == "Completed", job["status"]
    config = await client.get(_CONFIG_MAP, "g-config-1", namespace)
    names = [line.split()[3] for line in config["data"]["hostfile"].splitlines()]
    assert names == ["g-worker-0", "g-worker-1"]
    account = f"system:serviceaccount:{namespace}:g-launcher-2"
    into = {"resource": "pods", "subresource": "exec"}
    for worker in names:
        for verb in ("create", "get"):
            assert await _may(client, account, namespace, verb=verb, name=worker, **into)
    for stranger in ("", "g-partitioner-0", "g-launcher-0", "g-worker-2", "other-worker-0"):
        assert not await _may(client, account, namespace, verb="create", name=stranger, **into)
    assert not await _may(client, account, "default", verb="create", name="g-worker-0", **into)
    for resource in ("pods", "secrets", "configmaps", "roles"):
        assert not await _may(client, account, namespace, verb="list", resource=resource)
        assert not await _may(client, account, namespace, verb="create", resource=resource)


async def test_an_operator_without_the_component_refuses_launch_mode_exec_in_a_sentence(
    server: Envtest, client: Client, namespace: str, tmp_path: Path
):
    binding = Resource(
        "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False
    )
    with contextlib.suppress(NotFoundError):  # what another test has installed on this server
        await client.delete(binding, "dglop-exec-rolebinding")
    manifests = rendered(_DEFAULT)
    await install_rights(client, manifests)
    account = next(each for each in manifests if each["kind"] == "ServiceAccount")["metadata"]
    token = await token_of(client, account["namespace"], account["name"])
    flags = [f"--namespace={namespace}", f"--leader-election-namespace={account['namespace']}", *_QUIET]
    async with (
        operator_under(server.kubeconfig_for(token, "plain"), tmp_path / "operator.log", flags),
        asyncio.timeout(_SECONDS),
    ):
        await client.create(_job(namespace))
        job = await _until(client, namespace, "Completed", "Failed")
    failed = next(each for each in job["status"]["conditions"] if each["type"] == "Failed")
    assert failed["reason"] == "InvalidSpec"
    assert "add config/components/exec to the operator" in failed["message"]
    assert await client.list(_ROLE, namespace) == []


async def test_nobody_can_give_a_launcher_the_right_to_exec_who_does_not_hold_it(
    server: Envtest, client: Client, namespace: str
):
    rules = [each for each in EXEC_RULES if "pods/exec" not in each.resources]
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "weak", "namespace": namespace},
    }
    for each in (
        account,
        role_manifest("weak", rules, namespace),
        role_binding_manifest("weak", "weak", "weak", namespace, namespace),
    ):
        await client.create(each)
    job = DGLJob.from_wire({**_job(namespace), "metadata": {"name": "g", "namespace": namespace, "uid": "u"}})
    _, role, _ = account_objects(job)
    kubeconfig = server.kubeconfig_for(await token_of(client, namespace, "weak"), "weak")
    async with await Client.connect(ClientConfig(kubeconfig=str(kubeconfig))) as weak:
        with pytest.raises(ForbiddenError, match="pods/exec"):
            await weak.create(role)

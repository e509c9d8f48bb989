# SPDX-License-Identifier: Apache-2.0
"""Kueue, built from its Go module and run as a process beside a cluster, with its own CRDs and webhooks."""

from __future__ import annotations

import asyncio
import base64
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import yaml

from dglop.runtime.api import Resource
from hack.cluster.binaries import binary
from hack.cluster.commands import output
from hack.cluster.errors import ClusterError
from hack.crds import KUEUE, module_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from dglop.runtime.client import Client

__all__ = ("kueue_config", "kueue_objects", "kueue_running")

NAMESPACE: Final = "kueue-system"
GROUP: Final = "kueue.x-k8s.io"
SERVICE: Final = "kueue-webhook-service"
SECRET: Final = "kueue-webhook-server-cert"
_SECRETS: Final = Resource("", "v1", "Secret", "secrets")
_LEFT_OUT: Final = frozenset({"Deployment", "APIService", "Service"})
_READY_SECONDS: Final = 120.0
_ASK_AGAIN_SECONDS: Final = 0.1
_LAST_LINES: Final = 20


def kueue_objects(kustomized: str, *, port: int) -> list[dict[str, Any]]:
    """
    What Kueue ships, for a process beside the cluster that serves its webhooks on *port* of the same machine.

    Of the webhooks those for its own kinds stay: those for pods and for jobs of others would concern every
    test in the cluster. The API server finds them by a Service that is a name of the machine itself.
    """
    shipped = [each for each in yaml.safe_load_all(kustomized) if each]
    kept = [_aimed(each, port) for each in shipped if each["kind"] not in _LEFT_OUT]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }
    return [*kept, service]


def _aimed(manifest: dict[str, Any], port: int) -> dict[str, Any]:
    if manifest["kind"] == "CustomResourceDefinition":
        conversion = manifest["spec"].get("conversion")
        if conversion:
            conversion["webhook"]["clientConfig"]["service"]["port"] = port
    if manifest["kind"].endswith("WebhookConfiguration"):
        hooks = manifest["webhooks"]
        own = [each for each in hooks if all(rule["apiGroups"] == [GROUP] for rule in each["rules"])]
        for each in own:
            each["clientConfig"]["service"]["port"] = port
        manifest["webhooks"] = own
    return manifest


def kueue_config(folder: Path, *, kinds: Iterable[str], health: int, webhook: int) -> dict[str, Any]:
    """Its configuration: one process, no quota of requests, and jobs of *kinds* (`Kind.version.group`)."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"port": webhook, "certDir": str(folder / "certs")},
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 200, "burst": 400},
        "internalCertManagement": {
            "enable": True,
            "webhookServiceName": SERVICE,
            "webhookSecretName": SECRET,
        },
        "waitForPodsReady": {"timeout": "10m"},
        "integrations": {"frameworks": ["batch/job"], "externalFrameworks": list(kinds)},
        # What it serves besides needs an aggregated API, which no test looks at.
        "featureGates": {"VisibilityOnDemand": False},
    }


@asynccontextmanager
async def kueue_running(
    client: Client, kubeconfig: Path, folder: Path, *, kinds: Iterable[str]
) -> AsyncIterator[None]:
    """
    Kueue is installed, runs and is ready inside the block; its objects stay behind.

    Raises ClusterError: it cannot be built or does not become ready; the message has its last lines.
    """
    program = await asyncio.to_thread(binary, "kueue")
    shipped = await asyncio.to_thread(_kustomized)
    health, webhook = _free_ports(2)
    for manifest in kueue_objects(shipped, port=webhook):
        await client.with_field_manager("kueue-install").apply(manifest, force=True)
    (folder / "certs").mkdir(parents=True)
    config = folder / "kueue.yaml"
    config.write_text(yaml.safe_dump(kueue_config(folder, kinds=kinds, health=health, webhook=webhook)))
    log = folder / "kueue.log"
    with log.open("ab") as file:
        process = await asyncio.create_subprocess_exec(
            str(program), f"--config={config}", f"--kubeconfig={kubeconfig}", stdout=file, stderr=file
        )
    try:
        async with asyncio.timeout(_READY_SECONDS):
            await _mount_certificates(client, folder / "certs", process, log)
            await _until_ready(f"http://127.0.0.1:{health}/readyz", process, log)
        yield
    except TimeoutError as error:
        raise ClusterError(f"Kueue is not ready after {_READY_SECONDS:g} s:\n{_last_lines(log)}") from error
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def _kustomized() -> str:
    folder = module_folder(KUEUE, lambda _: None) / "config" / "default"
    return output([str(binary("kubectl")), "kustomize", str(folder)])


async def _mount_certificates(
    client: Client, folder: Path, process: asyncio.subprocess.Process, log: Path
) -> None:
    """What the kubelet would do: put the Secret where the program looks, once it has filled it."""
    while "tls.crt" not in (data := (await client.get(_SECRETS, SECRET, NAMESPACE)).get("data") or {}):
        _check(process, log)
        await asyncio.sleep(_ASK_AGAIN_SECONDS)
    for name, value in data.items():
        part = folder / f".{name}"
        part.write_bytes(base64.b64decode(value))
        part.rename(folder / name)


async def _until_ready(url: str, process: asyncio.subprocess.Process, log: Path) -> None:
    async with aiohttp.ClientSession(trust_env=False) as session:
        while True:
            _check(process, log)
            try:
                async with session.get(url) as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass  # it does not listen yet
            await asyncio.sleep(_ASK_AGAIN_SECONDS)


def _check(process: asyncio.subprocess.Process, log: Path) -> None:
    if process.returncode is not None:
        raise ClusterError(f"Kueue ended with {process.returncode}:\n{_last_lines(log)}")


def _last_lines(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-_LAST_LINES:])


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()

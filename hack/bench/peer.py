# SPDX-License-Identifier: Apache-2.0
"""training-operator as a process on this machine, with its own rights and its own defaults."""

from __future__ import annotations

import asyncio
import base64
import json
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hack.bench.identity import write_kubeconfig
from hack.bench.installing import PYTORCH_CRD, installed, read_manifest
from hack.bench.operator import Operator
from hack.bench.process import free_port, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from hack.bench.peer_build import PeerBuild
    from hack.stack import Stack

__all__ = (
    "LIFTED_THREADS",
    "PEER_NOTES",
    "lifted_operator",
    "peer_installed",
    "peer_objects",
    "peer_operator",
)

LIFTED_THREADS = 10
PEER_NOTES = (
    "training-operator runs with its own defaults: client limits of 20 requests/s, burst 30, and one thread",
    f"lifted is the same controller of the same module, without those limits and by {LIFTED_THREADS} threads",
    "of its kinds only PyTorchJob is enabled, and its validating webhook is not called: both spare it work",
)

_NAMESPACE = "dglop-bench-training-operator"
_ACCOUNT = "training-operator"
_SECRET = "training-operator-webhook-cert"
_WEBHOOK = "validator.training-operator.kubeflow.org"
_CERTIFICATES = Path("/tmp/k8s-webhook-server/serving-certs")  # a constant of the program
_FILES = ("ca.crt", "ca.key", "tls.crt", "tls.key")
_ASK_AGAIN_SECONDS = 0.1
_LIMIT_SECONDS = 60


def peer_objects(crd: dict[str, Any], role: dict[str, Any]) -> list[dict[str, Any]]:
    """What the program needs in the cluster; its CRD and its role are its own manifests."""
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": role["metadata"]["name"]},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": role["metadata"]["name"],
        },
        "subjects": [{"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": _NAMESPACE}],
    }
    # It fills the Secret and looks for its webhooks; with none listed the API server calls none.
    webhook = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": _WEBHOOK},
    }
    own = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _in_namespace(_ACCOUNT)},
        {"apiVersion": "v1", "kind": "Secret", "metadata": _in_namespace(_SECRET)},
    ]
    return [*own, crd, role, binding, webhook]


def _in_namespace(name: str) -> dict[str, str]:
    return {"name": name, "namespace": _NAMESPACE}


@contextmanager
def peer_installed(stack: Stack, build: PeerBuild) -> Iterator[None]:
    """Its objects are in the cluster inside the block. Raises BenchError where others installed it."""
    crd = read_manifest(build.manifests / "crds" / _file(PYTORCH_CRD))
    role = read_manifest(build.manifests / "rbac/role.yaml")
    try:
        with installed(stack, PYTORCH_CRD, peer_objects(crd, role)):
            yield
    finally:
        for name in _FILES:
            (_CERTIFICATES / name).unlink(missing_ok=True)


def _file(crd: str) -> str:
    plural, _, group = crd.partition(".")
    return f"{group}_{plural}.yaml"


@asynccontextmanager
async def peer_operator(stack: Stack, build: PeerBuild, folder: Path) -> AsyncIterator[Operator]:
    """Its own command under its own service account, ready or not."""
    kubeconfig = write_kubeconfig(stack, _NAMESPACE, _ACCOUNT, folder / "training-operator.kubeconfig")
    health, metrics = free_port(), free_port()
    argv = [
        str(build.program),
        *_flags(kubeconfig, health, metrics),
        "--enable-scheme=pytorchjob",
        f"--webhook-server-port={free_port()}",
        f"--webhook-secret-name={_SECRET}",
    ]
    env = {"MY_POD_NAMESPACE": _NAMESPACE}
    async with running(argv, env=env, log=folder / "training-operator.log") as program:
        await _mount_certificates(stack)
        yield Operator(program, health, metrics)


@asynccontextmanager
async def lifted_operator(stack: Stack, build: PeerBuild, folder: Path) -> AsyncIterator[Operator]:
    """Its controller without client limits and with more threads, under the same account."""
    kubeconfig = write_kubeconfig(stack, _NAMESPACE, _ACCOUNT, folder / "training-operator.kubeconfig")
    health, metrics = free_port(), free_port()
    argv = [
        str(build.lifted),
        *_flags(kubeconfig, health, metrics),
        f"--controller-threads={LIFTED_THREADS}",
    ]
    async with running(argv, log=folder / "training-operator-lifted.log") as program:
        yield Operator(program, health, metrics)


def _flags(kubeconfig: Path, health: int, metrics: int) -> tuple[str, ...]:
    return (
        f"--kubeconfig={kubeconfig}",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        f"--metrics-bind-address=127.0.0.1:{metrics}",
    )


async def _mount_certificates(stack: Stack) -> None:
    """What the kubelet would do: put the Secret where the program waits for it, once it has filled it."""
    ask = ("get", "secret", _SECRET, "-n", _NAMESPACE, "-o", "jsonpath={.data}")
    async with asyncio.timeout(_LIMIT_SECONDS):
        while True:
            data = await asyncio.to_thread(stack.run, *ask)
            if "tls.crt" in data:
                break
            await asyncio.sleep(_ASK_AGAIN_SECONDS)
    _write_certificates(json.loads(data))


def _write_certificates(data: dict[str, str]) -> None:
    _CERTIFICATES.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, value in data.items():
        part = _CERTIFICATES / f".{name}"
        part.write_bytes(base64.b64decode(value))
        part.chmod(0o600)
        part.rename(_CERTIFICATES / name)

# SPDX-License-Identifier: Apache-2.0
"""training-operator as a process on this machine, with its own rights and its own defaults."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from hack.bench.errors import BenchError
from hack.bench.identity import write_kubeconfig
from hack.bench.process import free_port, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from hack.bench.peer_build import PeerBuild
    from hack.bench.process import Program
    from hack.stack import Stack

__all__ = ("PEER_NOTES", "is_established", "peer_installed", "peer_objects", "peer_operator")

PEER_NOTES = (
    "training-operator runs with its own defaults: client limits of 20 requests/s, burst 30, and one thread",
    "of its kinds only PyTorchJob is enabled, and its validating webhook is not called: both spare it work",
)

_NAMESPACE = "dglop-bench-training-operator"
_ACCOUNT = "training-operator"
_SECRET = "training-operator-webhook-cert"
_WEBHOOK = "validator.training-operator.kubeflow.org"
_CRD = "pytorchjobs.kubeflow.org"
_LABELS = {"app.kubernetes.io/part-of": "dglop-bench"}
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
    return [_labelled(each) for each in (*own, crd, role, binding, webhook)]


def _in_namespace(name: str) -> dict[str, str]:
    return {"name": name, "namespace": _NAMESPACE}


def _labelled(manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), **_LABELS}}}


@contextmanager
def peer_installed(stack: Stack, build: PeerBuild) -> Iterator[None]:
    """Its objects are in the cluster inside the block. Raises BenchError where others installed it."""
    selector = ",".join(f"{key}={value}" for key, value in _LABELS.items())
    found = stack.run("get", "crd", _CRD, "--ignore-not-found", "-o", "name").strip()
    if found and not stack.run("get", "crd", "-l", selector, "-o", "name").strip():
        raise BenchError(
            f"training-operator is installed in this cluster ({found}): use another for the bench"
        )
    objects = peer_objects(
        _read(build.manifests / "crds" / f"{_file(_CRD)}"), _read(build.manifests / "rbac/role.yaml")
    )
    documents = "\n---\n".join(json.dumps(each) for each in objects)
    # By the server: the CRD is longer than an annotation may be.
    stack.run("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=documents)
    try:
        _until_served(stack)
        yield
    finally:
        stack.run("delete", "-f", "-", "--ignore-not-found", "--wait", stdin=documents)
        for name in _FILES:
            (_CERTIFICATES / name).unlink(missing_ok=True)


def _until_served(stack: Stack) -> None:
    """Wait for the CRD; `kubectl wait` takes the null that a new one has for conditions as an error."""
    end = time.monotonic() + _LIMIT_SECONDS
    while not is_established(json.loads(stack.run("get", "crd", _CRD, "-o", "json"))):
        if time.monotonic() > end:
            raise BenchError(f"crd/{_CRD} is not served after {_LIMIT_SECONDS} s: look at `kubectl describe`")
        time.sleep(_ASK_AGAIN_SECONDS)


def is_established(crd: dict[str, Any]) -> bool:
    conditions = crd.get("status", {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def _file(crd: str) -> str:
    plural, _, group = crd.partition(".")
    return f"{group}_{plural}.yaml"


def _read(path: Path) -> dict[str, Any]:
    documents = [each for each in yaml.safe_load_all(path.read_text()) if each]
    found: dict[str, Any] = documents[0]
    return found


@asynccontextmanager
async def peer_operator(stack: Stack, build: PeerBuild, folder: Path) -> AsyncIterator[tuple[Program, int]]:
    """The program under its own service account; yields it and its health port, ready or not."""
    kubeconfig = write_kubeconfig(stack, _NAMESPACE, _ACCOUNT, folder / "training-operator.kubeconfig")
    health = free_port()
    argv = [
        str(build.program),
        f"--kubeconfig={kubeconfig}",
        "--enable-scheme=pytorchjob",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        f"--metrics-bind-address=127.0.0.1:{free_port()}",
        f"--webhook-server-port={free_port()}",
        f"--webhook-secret-name={_SECRET}",
    ]
    env = {"MY_POD_NAMESPACE": _NAMESPACE}
    async with running(argv, env=env, log=folder / "training-operator.log") as program:
        await _mount_certificates(stack)
        yield program, health


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

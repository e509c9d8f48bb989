# SPDX-License-Identifier: Apache-2.0
"""The shipped operator with some of its components, under the rights that these give it and no others."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from hack.overlay import overlay_with

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

__all__ = ("OVERLAYS", "operator_with")

_RIGHTS = {"Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}


OVERLAYS = ("default", "namespaced")


def _components(component: str, kind: str, overlay: str) -> list[str]:
    """In the order in which the overlay names them."""
    is_namespaced = overlay == "namespaced"
    kinds = [kind.lower() + ("-namespaced" if is_namespaced else "")] if kind else []
    return [*kinds, component, *(["in-one-namespace"] if is_namespaced else [])]


def _manifests(components: list[str], folder: Path, overlay: str, namespace: str) -> list[dict[str, Any]]:
    """Those of the overlay with the components; config/namespaced is put into *namespace*."""
    kubectl = Path(os.environ["KUBEBUILDER_ASSETS"]) / "kubectl"
    command = [str(kubectl), "kustomize", str(overlay_with(folder, *components, overlay=overlay))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    text = done.stdout.replace("dglop-jobs", namespace)
    return [each for each in yaml.safe_load_all(text) if each]


def _flags(manifests: list[dict[str, Any]]) -> list[str]:
    """The flags that the components add to the Deployment's."""
    deployment = next(each for each in manifests if each["kind"] == "Deployment")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    return [str(each) for each in container["args"] if each.startswith(("--kinds", "--kueue", "--gang"))]


@contextlib.asynccontextmanager
async def operator_with(
    component: str,
    server: Envtest,
    client: Client,
    folder: Path,
    *,
    namespace: str,
    overlay: str = "default",
    kind: str = "",
) -> AsyncIterator[list[str]]:
    """It looks after *namespace* inside the block, after jobs of *kind* too; gives its flags."""
    manifests = _manifests(_components(component, kind, overlay), folder, overlay, namespace)
    for manifest in manifests:
        if manifest["kind"] in _RIGHTS:
            await client.apply(manifest)
    account = next(each for each in manifests if each["kind"] == "ServiceAccount")["metadata"]
    path = f"/api/v1/namespaces/{account['namespace']}/serviceaccounts/{account['name']}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = json.loads(await client.raw("POST", path, body=json.dumps(body).encode()))
    kubeconfig = server.kubeconfig_for(answer["status"]["token"], f"{component}{kind}-{overlay}")
    flags = _flags(manifests)
    command = [sys.executable, "-m", "dglop", "operator", f"--kubeconfig={kubeconfig}", *flags]
    command += [f"--namespace={namespace}", f"--leader-election-namespace={account['namespace']}"]
    command += ["--metrics-bind=0", "--health-bind=0", "--progress-bind=0"]
    log = folder / "operator.log"
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(*command, stdout=output, stderr=output)
    try:
        yield flags
    except BaseException:
        sys.stdout.write(log.read_text())  # pytest shows it with the failure
        raise
    finally:
        process.terminate()
        await process.wait()

# SPDX-License-Identifier: Apache-2.0
"""The shipped program as a process of its own, under an account with the rights that are shipped."""

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

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dglop.runtime.client import Client
    from test.envtest.audit import Request

__all__ = ("STRICT", "install_rights", "operator_under", "refused", "rendered", "token_of")

_RIGHTS = {"Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
# Owner references are checked as on OpenShift; and caches must list, as on a server without watch-lists.
STRICT = (
    "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    "--feature-gates=WatchList=false",
)


def rendered(overlay: Path) -> list[dict[str, Any]]:
    """What `kubectl apply -k` of the overlay would install."""
    kubectl = Path(os.environ["KUBEBUILDER_ASSETS"]) / "kubectl"
    done = subprocess.run(
        [str(kubectl), "kustomize", str(overlay)],
        check=True,
        capture_output=True,
        text=True,
    )
    return [each for each in yaml.safe_load_all(done.stdout) if each]


async def install_rights(client: Client, manifests: list[dict[str, Any]]) -> None:
    for manifest in manifests:
        if manifest["kind"] in _RIGHTS:
            await client.apply(manifest)


async def token_of(client: Client, namespace: str, account: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = await client.raw("POST", path, body=json.dumps(body).encode())
    return str(json.loads(answer)["status"]["token"])


@contextlib.asynccontextmanager
async def operator_under(
    kubeconfig: Path, log: Path, flags: Sequence[str], *, program: Sequence[str] = ("-m", "dglop", "operator")
) -> AsyncIterator[None]:
    """The shipped program, or another in Python, as a process of its own."""
    command = [sys.executable, *program, f"--kubeconfig={kubeconfig}", *flags]
    environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=output, stderr=output, env=environment
        )
    try:
        yield
    finally:
        process.terminate()
        code = await process.wait()
    assert code == 0, log.read_text()  # noqa: ASYNC240


def refused(asked: set[Request]) -> set[Request]:
    """The requests that the account was not allowed."""
    return {each for each in asked if each.code in (401, 403)}

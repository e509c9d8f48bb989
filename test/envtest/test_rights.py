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
import pytest_asyncio
import yaml

from dglop.runtime.client import Client, ClientConfig
from dglop.testing.envtest import Envtest
from test.envtest.audit import AuditLog, Request, granted, unused
from test.envtest.conftest import install_crds
from test.envtest.lives import Lives

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

_ROOT = Path(__file__).resolve().parents[2]
_RIGHTS = {"Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
# Owner references are checked as on OpenShift; and caches must list, as on a server without watch-lists.
_STRICT = (
    "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    "--feature-gates=WatchList=false",
)

_SECONDS = 100  # only ends what hangs


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


@contextlib.asynccontextmanager
async def _operator(kubeconfig: Path, log: Path, flags: Sequence[str]) -> AsyncIterator[None]:
    """The shipped program as a process of its own."""
    command = [sys.executable, "-m", "dglop", "operator", f"--kubeconfig={kubeconfig}", *flags]
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


@pytest.fixture
def audit(tmp_path: Path) -> AuditLog:
    return AuditLog(tmp_path)


@pytest_asyncio.fixture
async def strict(server: Envtest, audit: AuditLog) -> AsyncIterator[Envtest]:
    """A server of the test's own, which takes down what it was asked for."""
    async with Envtest(assets=server.assets, extra_args=(*_STRICT, *audit.flags)) as running:
        await install_crds(running)
        yield running


def _refused(asked: set[Request]) -> set[Request]:
    return {each for each in asked if each.code in (401, 403)}


def _met(asked: set[Request]) -> bool:
    """Whether the operator has found a job changed under its hands, and has read it anew."""
    return any((each.resource, each.verb) == ("dgljobs", "get") for each in asked)


async def _live(lives: Lives, kubeconfig: Path, log: Path, flags: Sequence[str], conflict: Any) -> None:
    """Whole lives of jobs, under two operators, one after the other."""
    await lives.begin()
    async with lives.kubelet.at_work():
        async with _operator(kubeconfig, log, flags):
            await lives.until_suspended()
            await lives.report_progress_until(conflict)
        async with _operator(kubeconfig, log, flags):
            await lives.to_the_end()


@pytest.mark.parametrize("overlay", ["default", "namespaced"])
async def test_the_shipped_rights_are_enough_and_all_are_needed(
    strict: Envtest, audit: AuditLog, tmp_path: Path, overlay: str
) -> None:
    manifests, log = _manifests(overlay), tmp_path / "operator.log"
    account = next(each for each in manifests if each["kind"] == "ServiceAccount")["metadata"]
    home, is_namespaced = account["namespace"], overlay == "namespaced"
    user = f"system:serviceaccount:{home}:{account['name']}"
    place, other = (home, "elsewhere") if is_namespaced else ("elsewhere", "")
    rights = granted(manifests, user)
    assert rights
    assert not is_namespaced or all(each.namespace == home for each in rights)
    async with await Client.connect(ClientConfig(kubeconfig=str(strict.kubeconfig))) as client:
        await _install_rights(client, manifests)
        lives = Lives(client, place, other)
        kubeconfig = strict.kubeconfig_for(await _token(client, home, account["name"]), overlay)
        flags = [*lives.flags, "--leader-elect", f"--leader-election-namespace={home}"]
        flags += [f"--namespace={home}"] if is_namespaced else []
        try:
            async with asyncio.timeout(_SECONDS):
                await _live(lives, kubeconfig, log, flags, lambda: _met(audit.of(user)))
        except TimeoutError:
            pytest.fail(f"the jobs do not end; refused: {_refused(audit.of(user))}\n{log.read_text()}")
        if is_namespaced:
            assert await lives.is_other_untouched(), "touched a job of another namespace"
    asked = audit.of(user)
    assert _refused(asked) == set()
    assert unused(rights, asked) == set()

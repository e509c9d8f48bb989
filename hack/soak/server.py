# SPDX-License-Identifier: Apache-2.0
"""The API server of the soak: it forgets history, refuses old tokens, dies and comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp

from dglop import Resource
from dglop.runtime.api.resource import resource_of
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from dglop.testing.envtest import Envtest
from hack.soak.kinds import NAMESPACE, Sample

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.testing.envtest import EnvtestAssets

__all__ = ("SoakServer", "envtest_of")

_ACCOUNT = "soak"
_SERVICE_ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")
_SECRET = Resource("", "v1", "Secret", "secrets")


def envtest_of(assets: EnvtestAssets) -> Envtest:
    """One that reads ConfigMaps from etcd itself, so that a compaction makes old versions expire."""
    return Envtest(
        assets=assets, extra_args=("--watch-cache-sizes=configmaps#0", "--etcd-compaction-interval=0")
    )


class SoakServer:
    """What is done to a running Envtest; *admin* is a client that no chaos touches."""

    def __init__(self, envtest: Envtest, admin: Client) -> None:
        self.token_file = envtest.folder / "soak-token"
        self.ca_file: Path = envtest.folder / "ca.pem"
        self.compactions = 0
        self.rotations = -1  # the first token replaces none
        self.restarts = 0
        self._envtest = envtest
        self._admin = admin
        self._secret = ""

    @property
    def port(self) -> int:
        return int(self._envtest.url.rpartition(":")[2])

    @staticmethod
    def admin_config(envtest: Envtest) -> ClientConfig:
        return ClientConfig(kubeconfig=str(envtest.kubeconfig))

    async def prepare(self) -> None:
        """Install the kind, and make the account that the Manager has."""
        await install_crds(self._admin, [Sample], SystemClock())
        where = {"name": _ACCOUNT, "namespace": NAMESPACE}
        await self._admin.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": where})
        subject = {"kind": "ServiceAccount", **where}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
        binding: dict[str, Any] = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": _ACCOUNT},
            "roleRef": role,
            "subjects": [subject],
        }
        await self._admin.create(binding)
        await self.rotate()

    async def rotate(self) -> None:
        """Write a new token, and make the old one invalid: the API server takes it for ten seconds at most.

        A token is bound to a Secret, and dies with it.
        """
        self.rotations += 1
        old, self._secret = self._secret, f"soak-token-{self.rotations}"
        metadata = {"name": self._secret, "namespace": NAMESPACE}
        secret: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
        made = await self._admin.create(secret)
        bound = {"kind": "Secret", "apiVersion": "v1", "name": self._secret, "uid": made["metadata"]["uid"]}
        tokens = self._admin.subresource(_SERVICE_ACCOUNT, "token")
        spec = {"boundObjectRef": bound, "expirationSeconds": 7200}
        answer = await tokens.create(_ACCOUNT, {"spec": spec}, NAMESPACE)
        # The kubelet, too, puts the whole file there at once.
        fresh = self.token_file.with_suffix(".new")
        fresh.write_text(answer["status"]["token"])
        fresh.replace(self.token_file)
        if old:
            await self._admin.delete(_SECRET, old, NAMESPACE)

    async def compact(self) -> None:
        """Let etcd forget all history: watches from before are answered 410."""
        async with aiohttp.ClientSession(trust_env=False) as session:
            url = self._envtest.etcd_url
            async with session.post(f"{url}/v3/kv/range", json={"key": "AA=="}) as answer:
                revision = (await answer.json())["header"]["revision"]
            body = {"revision": revision, "physical": True}
            async with session.post(f"{url}/v3/kv/compaction", json=body) as answer:
                answer.raise_for_status()
        self.compactions += 1

    async def kill(self) -> None:
        """Kill the API server and start it again on the same data."""
        await self._envtest.restart_apiserver(kill=True)
        self.restarts += 1

    async def listed(self, kind: Any) -> dict[str, dict[str, Any]]:
        """What the API server has of *kind* in the soak's namespace, by name, past every cache."""
        found: list[dict[str, Any]] = await self._admin.list(resource_of(kind), NAMESPACE)
        return {each["metadata"]["name"]: each for each in found}

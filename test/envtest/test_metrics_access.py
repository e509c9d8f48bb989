# SPDX-License-Identifier: Apache-2.0
"""Metrics behind the real TokenReview and SubjectAccessReview."""

from __future__ import annotations

import io
import json
import ssl
from typing import TYPE_CHECKING

import aiohttp

from dglop import Manager, Settings
from dglop.runtime.access import ACCESS_RULES
from dglop.runtime.api import role_binding_manifest, role_manifest
from dglop.runtime.client import ClientConfig
from dglop.runtime.log import make_log
from dglop.testing.certificates import ServingCertificates

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

READER = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "test-metrics-reader"},
    "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
}


async def _token(client: Client, namespace: str, account: str) -> str:
    await client.create(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": namespace}}
    )
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return str(json.loads(await client.raw("POST", path, body=json.dumps(body).encode()))["status"]["token"])


async def test_a_service_accounts_token_opens_the_metrics_if_its_account_may_get_them(
    server: Envtest, client: Client, namespace: str, tmp_path: Path
) -> None:
    certificates = ServingCertificates(tmp_path)
    await client.apply(READER)
    await client.apply(role_manifest("test-metrics-auth", ACCESS_RULES))
    reader, nobody, operator = [
        await _token(client, namespace, account) for account in ("reader", "nobody", "operator")
    ]
    for role, account in (("test-metrics-reader", "reader"), ("test-metrics-auth", "operator")):
        binding = role_binding_manifest(role, role, account, namespace)
        await client.apply(binding)
    settings = Settings(
        metrics_bind="127.0.0.1:0", health_bind="0", metrics_secure=True, metrics_cert_path=str(tmp_path)
    )
    # The operator's own rights are those that are documented, no more.
    config = ClientConfig(kubeconfig=str(server.kubeconfig_for(operator, "operator")))
    manager = Manager(settings, config=config, log=make_log(level="error", stream=io.StringIO()))
    context = ssl.create_default_context(cadata=certificates.ca_bundle.decode())
    async with manager, aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
        url = f"https://127.0.0.1:{manager.ports['metrics']}/metrics"

        async def get(token: str) -> tuple[int, str]:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with session.get(url, headers=headers) as answer:
                return answer.status, await answer.text()

        assert (await get(""))[0] == 401
        assert (await get("not-a-token"))[0] == 401
        status, text = await get(nobody)
        assert (status, text) == (
            403, f"Forbidden: system:serviceaccount:{namespace}:nobody may not GET /metrics\n",
        )  # fmt: skip
        status, text = await get(reader)
        assert status == 200
        assert "rest_client_requests_total" in text

# SPDX-License-Identifier: Apache-2.0
"""Metrics behind the real TokenReview and SubjectAccessReview."""

from __future__ import annotations

import io
import json
import ssl
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

import aiohttp

from dglop import Manager, Settings
from dglop.dgljob.operator import make_operator
from dglop.dgljob.rbac import MANAGER_RULES, OWN_RULES
from dglop.dgljob.settings import OperatorSettings
from dglop.runtime.access import ACCESS_REVIEWS, ACCESS_RULES
from dglop.runtime.api import Resource, role_binding_manifest, role_manifest
from dglop.runtime.client import ClientConfig
from dglop.runtime.log import make_log
from dglop.testing.certificates import ServingCertificates
from dglop.testing.clock import ManualClock

from .hooked_kinds import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

Get: TypeAlias = Callable[[str], Awaitable[tuple[int, str]]]
ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")
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


@asynccontextmanager
async def reader_of(manager: Manager, certificates: ServingCertificates) -> AsyncIterator[Get]:
    """Runs *manager*, and reads its metrics over TLS with the token that is given."""
    context = ssl.create_default_context(cadata=certificates.ca_bundle.decode())
    async with manager, aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
        url = f"https://127.0.0.1:{manager.ports['metrics']}/metrics"

        async def get(token: str) -> tuple[int, str]:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with session.get(url, headers=headers) as answer:
                return answer.status, await answer.text()

        yield get


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
    async with reader_of(manager, certificates) as get:
        assert (await get(""))[0] == 401
        assert (await get("not-a-token"))[0] == 401
        status, text = await get(nobody)
        assert (status, text) == (
            403, f"Forbidden: system:serviceaccount:{namespace}:nobody may not GET /metrics\n",
        )  # fmt: skip
        status, text = await get(reader)
        assert status == 200
        assert "rest_client_requests_total" in text


async def test_the_operator_for_dgljobs_serves_them_so_by_flag(
    server: Envtest, client: Client, namespace: str, tmp_path: Path
) -> None:
    certificates = ServingCertificates(tmp_path)
    operator, scraper = [await _token(client, namespace, account) for account in ("operator", "scraper")]
    await client.apply(READER)
    roles = [
        role_manifest("test-operator", (*MANAGER_RULES, *ACCESS_RULES)),
        role_binding_manifest("test-operator", "test-operator", "operator", namespace),
        role_manifest("test-own", OWN_RULES, namespace),
        role_binding_manifest("test-own", "test-own", "operator", namespace, namespace),
        role_binding_manifest("test-scraper", "test-metrics-reader", "scraper", namespace),
    ]
    for manifest in roles:
        await client.apply(manifest)
    flags = [
        f"--kubeconfig={server.kubeconfig_for(operator, 'dgl-operator')}",
        f"--leader-election-namespace={namespace}",
        "--metrics-secure",
        "--metrics-bind=127.0.0.1:0",
        f"--metrics-cert-path={tmp_path}",
        "--health-bind=0",
        "--log-level=error",
    ]
    manager = make_operator(OperatorSettings().with_flags(flags))
    async with reader_of(manager, certificates) as get:
        assert (await get(""))[0] == 401
        assert (await get(operator))[0] == 403
        status, text = await get(scraper)
        assert status == 200
        assert 'controller_runtime_reconcile_total{controller="dgljob",result="success"}' in text


async def _may(client: Client, user: str) -> bool:
    """What the API server says at the moment."""
    attributes = {"verb": "get", "path": "/metrics"}
    review = {"kind": "SubjectAccessReview", "spec": {"user": user, "nonResourceAttributes": attributes}}
    body = json.dumps({"apiVersion": "authorization.k8s.io/v1", **review}).encode()
    return bool(json.loads(await client.raw("POST", ACCESS_REVIEWS, body=body))["status"]["allowed"])


async def test_what_the_api_server_said_holds_for_a_while(
    server: Envtest, client: Client, namespace: str, tmp_path: Path
) -> None:
    certificates, clock = ServingCertificates(tmp_path), ManualClock()
    await client.apply(READER)
    token, user = await _token(client, namespace, "late"), f"system:serviceaccount:{namespace}:late"
    binding = role_binding_manifest("test-late", "test-metrics-reader", "late", namespace)
    settings = Settings(
        metrics_bind="127.0.0.1:0", health_bind="0", metrics_secure=True, metrics_cert_path=str(tmp_path)
    )
    log = make_log(level="error", stream=io.StringIO())
    config = ClientConfig(kubeconfig=str(server.kubeconfig))
    async with reader_of(Manager(settings, config=config, log=log, clock=clock), certificates) as get:
        assert (await get(token))[0] == 403
        await client.apply(binding)
        while not await _may(client, user):
            pass
        assert (await get(token))[0] == 403  # a denial, for half a minute
        await clock.advance(31)
        assert (await get(token))[0] == 200
        await client.delete(binding, "test-late")
        while await _may(client, user):
            pass
        await clock.advance(61)
        await client.delete(ACCOUNT, "late", namespace)
        assert (await get(token))[0] == 200  # the right, for five minutes; the token, for one

        async def is_forgotten() -> bool:
            # The API server has a memory of its own, of ten seconds.
            await clock.advance(61)
            return (await get(token))[0] == 401

        await until(is_forgotten)

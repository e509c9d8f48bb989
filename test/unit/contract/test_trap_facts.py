# SPDX-License-Identifier: Apache-2.0
"""Defects and gaps of the official client for which we have parts of our own, seen as they still are."""

from __future__ import annotations

import inspect
import os
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from subprocess import run
from typing import TYPE_CHECKING, Any

import pytest

from dglop.testing.scripted_replies import answer, event, expired, stream
from test.unit.contract.facts import official, stood_in
from test.unit.contract.kubeconfigs import load, write

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dglop.testing.scripted import ScriptedServer

REFLECTOR = "runtime/cache/reflector_runner.py: ReflectorRunner"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "resourceVersion": "7"}}


async def watched(server: ScriptedServer, **named: Any) -> AsyncIterator[Any]:
    """Pods through the official watch."""
    client = official()
    configuration = client.Configuration(host=server.url)
    async with client.ApiClient(configuration) as api, official("kubernetes.aio.watch").Watch() as watch:
        pods = client.CoreV1Api(api).list_pod_for_all_namespaces
        async for each in watch.stream(pods, **named):
            yield each


@pytest.mark.scripted
async def test_a_line_that_is_no_json_is_an_event(server: ScriptedServer) -> None:
    server.watches(stream(b"<html>502</html>\n"))
    with stood_in("the official watch hands on a proxy's page as an event", by=REFLECTOR):
        events = watched(server)
        assert (await anext(events)).strip() == "<html>502</html>"
        await events.aclose()  # type: ignore[attr-defined]


@pytest.mark.scripted
async def test_a_version_that_is_too_old_is_asked_for_again(server: ScriptedServer) -> None:
    server.watches(stream(event("ADDED", POD), expired(), then="end"), stream(expired(), then="end"))
    trap = "the official watch asks once more for the version that was too old, and then raises"
    with stood_in(trap, by=REFLECTOR):
        with pytest.raises(official("kubernetes.aio.client.exceptions").ApiException, match="410"):
            async for _ in watched(server):
                pass
        assert [each.query.get("resourceVersion") for each in server.requests] == [None, "7"]


@pytest.mark.scripted
async def test_a_server_that_ends_its_watches_is_asked_without_a_pause(server: ScriptedServer) -> None:
    ended = [stream(then="end")] * 20
    server.watches(*ended, stream(event("ADDED", POD)))
    with stood_in(
        "the official watch asks again without a pause where a server ends it at once", by=REFLECTOR
    ):
        source = inspect.getsource(official("kubernetes.aio.watch").Watch)
        events = watched(server)
        assert (await anext(events))["type"] == "ADDED"
        await events.aclose()  # type: ignore[attr-defined]
        assert len(server.requests) == 21
        assert "sleep" not in source


@pytest.mark.scripted
async def test_the_official_lease_lock_cannot_make_a_lease(server: ScriptedServer) -> None:
    server.on(lambda _: True, answer({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}, 201))
    with stood_in("LeaseLock.create fails before it asks the server", by="runtime/leader.py: KubeLeaseStore"):
        lock = official("kubernetes.aio.leaderelection.resourcelock.leaselock").LeaseLock
        record = official("kubernetes.aio.leaderelection.leaderelectionrecord").LeaderElectionRecord
        now = str(datetime.now(UTC).replace(tzinfo=None))
        async with official().ApiClient(official().Configuration(host=server.url)) as api:
            with pytest.raises(ValueError, match="pretty"):
                await lock("a", "n", "me", api).create("a", "n", record("me", 15, now, now))
        assert server.requests == []


def test_there_is_no_informer_for_asyncio() -> None:
    with stood_in("kubernetes.aio has no informer", by="runtime/cache/informer.py: Informer"):
        assert find_spec("kubernetes.aio.informer") is None


async def test_sockets_are_made_without_options() -> None:
    trap = "socket_options of a Configuration reach no socket of the asynchronous client"
    with stood_in(trap, by="runtime/client/sockets.py: keepalive_socket"):
        assert "socket_" not in inspect.getsource(official("kubernetes.aio.client.rest"))


def test_the_asynchronous_client_loads_the_synchronous_one_too() -> None:
    trap = "kubernetes.aio loads kubernetes.client and requests with it"
    with stood_in(trap, by="runtime/client/sources.py: _kubeconfig"):
        program = "import sys, kubernetes.aio.config; print('requests' in sys.modules)"
        done = run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout == "True\n"


async def test_a_file_that_the_loader_wrote_is_missed_for_ever_once_it_is_gone(tmp_path: Path) -> None:
    path = write(tmp_path / "config", cluster={"certificate-authority-data": "Z29uZQ=="})
    forget = "runtime/client/kubeconfig.py: _forget_lost_files"
    with stood_in("the loader looks for a file that it wrote once, by kube_config._temp_files", by=forget):
        first, _ = await load(path)
        assert first.ssl_ca_cert in official("kubernetes.aio.config").kube_config._temp_files.values()
        os.remove(first.ssl_ca_cert)  # noqa: PTH107 - one file, at once
        with pytest.raises(official("kubernetes.aio.config").ConfigException, match=r"not exist"):
            await load(path)

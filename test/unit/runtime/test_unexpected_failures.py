# SPDX-License-Identifier: Apache-2.0
"""What nobody foresaw in a background task of the Manager's own ends the program, and is told."""

from __future__ import annotations

import asyncio
import io
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import Settings
from dglop.errors import ConfigError
from dglop.runtime import lifecycle
from dglop.runtime.certwatch import server_context
from dglop.runtime.client import Client
from dglop.runtime.log import make_log
from dglop.runtime.serving import HTTPServer
from dglop.testing.certificates import ServingCertificates

if TYPE_CHECKING:
    from pathlib import Path

    from dglop import Context, Manager
    from dglop.testing.memory import MemoryCluster

pytestmark = pytest.mark.scripted


class UnforeseenError(Exception):
    """Neither of the API server nor of the way to it."""


async def record(obj: V1ConfigMap, ctx: Context) -> None:
    ctx.event(obj, "Seen", "it was seen")


def recording(cluster: MemoryCluster, **settings: Any) -> Manager:
    manager = cluster.manager(Settings(metrics_bind="0", health_bind="0", **settings))
    manager.controller(V1ConfigMap, record)
    return manager


def breaking(monkeypatch: pytest.MonkeyPatch, method: str, error: Exception, *, part: str) -> None:
    """Have the client's *method* raise where the path or the body has *part*."""
    sound = getattr(Client, method)

    def broken(self: Client, *args: Any, **options: Any) -> Any:
        if part in str(args):
            raise error
        return sound(self, *args, **options)

    monkeypatch.setattr(Client, method, broken)


@pytest.mark.parametrize("method", ["raw", "batches"])
async def test_in_a_request_of_a_reflector(
    memory_cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    breaking(monkeypatch, method, UnforeseenError(method), part="configmaps")
    with pytest.RaisesGroup(UnforeseenError, flatten_subgroups=True):
        await recording(memory_cluster).run()


async def test_in_a_request_of_a_reflector_that_was_in_sync_for_long(
    memory_cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = recording(memory_cluster)
    running = asyncio.create_task(manager.run())
    await memory_cluster.settle()
    assert not running.done()
    for method in ("raw", "batches"):
        breaking(monkeypatch, method, UnforeseenError(), part="configmaps")
    memory_cluster.server.end_watches()
    await memory_cluster.advance(60)
    with pytest.RaisesGroup(UnforeseenError, flatten_subgroups=True):
        await running


async def test_in_posting_an_event(memory_cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "create", UnforeseenError(), part="events.k8s.io")
    running = asyncio.create_task(recording(memory_cluster).run())
    await memory_cluster.client.create(V1ConfigMap(metadata=V1ObjectMeta(name="seen", namespace="default")))
    with pytest.raises(UnforeseenError):
        await running


async def test_trouble_of_the_client_costs_an_event_and_no_more(
    memory_cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaking(monkeypatch, "create", ConfigError("the kubeconfig cannot be read"), part="events.k8s.io")
    manager = recording(memory_cluster)
    await memory_cluster.client.create(V1ConfigMap(metadata=V1ObjectMeta(name="seen", namespace="default")))
    async with manager:
        await memory_cluster.settle()
        assert manager.metrics.events_posted.labels("refused")._value.get() >= 1


class Unkept:
    """Certificates that cannot be looked after."""

    def __init__(self, folder: Path) -> None:
        ServingCertificates(folder)
        self.context = server_context(folder / "tls.crt", folder / "tls.key", None)
        self.may_fail = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        await self.may_fail.wait()
        raise UnforeseenError


async def test_in_looking_for_new_certificates(
    memory_cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = Unkept(tmp_path)
    made = partial(HTTPServer, "127.0.0.1:0", [], name="health", log=make_log(stream=io.StringIO()), tls=kept)
    monkeypatch.setattr(lifecycle, "http_servers", lambda _: {"health": made()})
    running = asyncio.create_task(recording(memory_cluster).run())
    await memory_cluster.settle()
    assert not running.done()
    kept.may_fail.set()
    with pytest.raises(UnforeseenError):
        await running


async def test_a_server_that_was_added_ends_with_it_too(tmp_path: Path) -> None:
    kept = Unkept(tmp_path)
    server = HTTPServer("127.0.0.1:0", [], name="more", log=make_log(stream=io.StringIO()), tls=kept)
    kept.may_fail.set()
    with pytest.raises(UnforeseenError):
        await server.run(asyncio.Event())
    assert server.port is None

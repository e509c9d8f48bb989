# SPDX-License-Identifier: Apache-2.0
"""A small API server in memory, and a scripted one with a client, for the runtime's tests."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.client import Client, ClientConfig
from dglop.testing.plugin import memory_cluster
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_clock import EagerClock
from dglop.testing.scripted_replies import answer, bookmark, event, status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.testing.scripted import Exchange, Seen


__all__ = ("api", "client", "clock", "memory_cluster", "server")


class MemoryApi:
    """Objects by path, versions, watches, merge patches with preconditions; knows no schema."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        self.objects: dict[str, dict[str, Any]] = {}
        self.version = 100
        self.log: list[tuple[int, str, dict[str, Any]]] = []
        self.holds_watches = False
        """While set, watches say nothing: the cache lags."""
        self._news = asyncio.Condition()
        server.on(lambda _: True, self._answer)

    @property
    def config(self) -> ClientConfig:
        return ClientConfig(host=self.server.url, namespace="default")

    def writes(self, method: str = "PATCH", ending: str = "") -> list[Seen]:
        return [r for r in self.server.requests if r.method == method and r.path.endswith(ending)]

    async def put(self, path: str, obj: dict[str, Any]) -> dict[str, Any]:
        """Make or replace an object, as another client would."""
        old = self.objects.get(path)
        stored: dict[str, Any] = await self._store(path, "MODIFIED" if old else "ADDED", obj, old)
        return stored

    async def remove(self, path: str) -> None:
        await self._store(path, "DELETED", self.objects[path], self.objects[path])

    async def release_watches(self) -> None:
        async with self._news:
            self.holds_watches = False
            self._news.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Until *condition* holds; it is looked at after each change."""
        async with self._news:
            await self._news.wait_for(condition)

    async def _store(self, path, type_, obj, old):
        async with self._news:
            self.version += 1
            known = (old or {}).get("metadata", {})
            kept = {name: known[name] for name in ("uid", "generation") if name in known}
            metadata = {"uid": f"uid-{self.version}", "generation": 1, **obj.get("metadata", {}), **kept}
            metadata["resourceVersion"] = str(self.version)
            if old is not None and obj.get("spec") != old.get("spec"):
                metadata["generation"] += 1
            stored = {**obj, "metadata": metadata}
            if type_ == "DELETED":
                del self.objects[path]
            else:
                self.objects[path] = stored
            self.log.append((self.version, type_, stored))
            self._news.notify_all()
            return stored

    async def _answer(self, exchange: Exchange) -> None:
        request = exchange.request
        if request.is_watch:
            await self._watch(exchange)
        elif request.method == "GET":
            await self._get(exchange)
        elif request.method == "POST":
            obj = request.json()
            await answer(await self.put(f"{request.path}/{obj['metadata']['name']}", obj), 201)(exchange)
        elif request.method == "PATCH":
            await self._patch(exchange)
        elif request.path in self.objects:
            await self.remove(request.path)
            await answer({"kind": "Status", "status": "Success"})(exchange)
        else:
            await status(404, "NotFound", request.path)(exchange)

    async def _get(self, exchange):
        path = exchange.request.path
        if path in self.objects:
            await answer(self.objects[path])(exchange)
        elif path.rpartition("/")[2].endswith("s"):
            found = [obj for at, obj in self.objects.items() if _is_in(at, path)]
            metadata = {"resourceVersion": str(self.version)}
            await answer({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": found})(exchange)
        else:
            await status(404, "NotFound", path)(exchange)

    async def _patch(self, exchange):
        request = exchange.request
        path = request.path.removesuffix("/status")
        old = self.objects.get(path)
        if old is None and "apply-patch" not in request.headers["content-type"]:
            await status(404, "NotFound", path)(exchange)
            return
        body = request.json()
        wanted = body.get("metadata", {}).pop("resourceVersion", None)
        if wanted is not None and (old is None or wanted != old["metadata"]["resourceVersion"]):
            await status(409, "Conflict", "the object has been modified")(exchange)
            return
        await answer(await self.put(path, _merge(old or {}, body)))(exchange)

    async def _after(self, version):
        async with self._news:
            await self._news.wait_for(lambda: not self.holds_watches and self.version > version)
            return [entry for entry in self.log if entry[0] > version]

    async def _watch(self, exchange):
        query, path = exchange.request.query, exchange.request.path
        sent = int(query.get("resourceVersion") or self.version)
        await exchange.start(200, {"Content-Type": "application/json"})
        if query.get("sendInitialEvents") == "true":
            sent = self.version
            for at, obj in list(self.objects.items()):
                if _is_in(at, path):
                    await exchange.chunk(event("ADDED", obj))
            await exchange.chunk(bookmark(str(sent), _kind(path), ends_initial=True))
        while True:
            news = await self._after(sent)
            sent = news[-1][0]
            for _, type_, obj in news:
                if _kind(path) == obj["kind"]:
                    await exchange.chunk(event(type_, obj))


def _merge(old: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            merged[name] = _merge(merged.get(name) or {}, value)
        else:
            merged[name] = value
    copied: dict[str, Any] = json.loads(json.dumps(merged))
    return copied


def _kind(path: str) -> str:
    return {"configmaps": "ConfigMap", "events": "Event"}.get(path.rpartition("/")[2], "Greeting")


def _is_in(path: str, collection: str) -> bool:
    parts = path.split("/")
    return path.startswith(collection.rpartition("/")[0]) and parts[-2] == collection.rpartition("/")[2]


@pytest.fixture
async def api() -> AsyncIterator[MemoryApi]:
    async with ScriptedServer() as server:
        yield MemoryApi(server)


@pytest.fixture
def clock() -> EagerClock:
    return EagerClock()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as running:
        yield running


@pytest.fixture
async def client(server: ScriptedServer, clock: EagerClock) -> AsyncIterator[Client]:
    async with await Client.connect(ClientConfig(host=server.url), clock=clock) as connected:
        yield connected

# SPDX-License-Identifier: Apache-2.0
"""What only time and memory show of three known bugs of others: clients that leak, patches, slow decoding."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from contextlib import aclosing
from pathlib import Path
from resource import getpagesize

from dglop.runtime.api import Resource
from dglop.runtime.cache.entry import read_object
from dglop.runtime.client import Client, ClientConfig
from dglop.testing.scripted import Exchange, Reply, ScriptedServer
from dglop.testing.scripted_replies import answer, event, stream
from hack.bench.runtime.pods import pod
from hack.bench.section import Section

__all__ = ("measure_symptoms",)

CLIENTS, PATCHES, PODS = 1_000, 50_000, 10_000
_WARM = 0.1  # the first tenth fills pools and caches that stay as they are
_POD = Resource("", "v1", "Pod", "pods")


async def measure_symptoms(*, clients: int = CLIENTS, patches: int = PATCHES, pods: int = PODS) -> Section:
    """One row for each of the bugs 15, 16 and 17 of docs/bugs.md."""
    rows = [("15", *await _clients(clients)), ("16", *await _patches(patches)), ("17", *_decoding(pods))]
    notes = (
        "against a scripted server in the same process, whose own work and memory are in the figures",
        "numbers are those of the bugs' page; the first tenth of clients and patches is not measured",
    )
    return Section(
        "Bugs of which only time and memory tell", ("bug", "work", "took", "left or gave"), rows, notes
    )


async def _clients(count: int) -> tuple[str, str, str]:
    """Clients that read, watch and close, one after the other."""
    async with ScriptedServer() as server:
        server.watches(stream(event("ADDED", pod(0))))
        server.lists(_forgetting(server, answer(pod(0))))
        before, began = await _held(), time.monotonic()
        for number in range(count):
            if number == int(count * _WARM):
                before, began = await _held(), time.monotonic()
            async with await Client.connect(ClientConfig(host=server.url)) as client:
                await client.get(_POD, "a", "n")
                async with aclosing(client.stream("/w", query={"watch": "true"}, read_idle=9)) as lines:
                    await anext(lines)
        took = time.monotonic() - began
        left = [after - earlier for after, earlier in zip(await _held(), before, strict=True)]
    shown = ", ".join(
        f"{number:+} {what}" for number, what in zip(left, ("threads", "tasks", "files"), strict=True)
    )
    return f"{count} clients, each with a watch", f"{took:.1f} s", shown


async def _patches(count: int) -> tuple[str, str, str]:
    async with ScriptedServer() as server, await Client.connect(ClientConfig(host=server.url)) as client:
        server.on(lambda _: True, _forgetting(server, answer(pod(0))))
        before, began = _resident(), time.monotonic()
        for number in range(count):
            if number == int(count * _WARM):
                before, began = _resident(), time.monotonic()
            await client.patch(_POD, "a", "n", {"metadata": {"labels": {"n": str(number)}}})
        took = time.monotonic() - began
        grown = (_resident() - before) / 1e6
    return f"{count} patches", f"{took:.1f} s", f"{grown:+.2f} MB resident"


def _decoding(count: int) -> tuple[str, str, str]:
    lines = [json.dumps(pod(number), separators=(",", ":")).encode() for number in range(count)]
    began = time.process_time()
    kept = [read_object(line, _POD)[0] for line in lines]
    took = time.process_time() - began
    return (
        f"{len(kept)} pods read into cached objects",
        f"{took:.2f} s of CPU",
        f"{count / took:.0f} pods a second",
    )


def _forgetting(server: ScriptedServer, reply: Reply) -> Reply:
    """The reply, from a server that does not remember what it was asked."""

    async def forgetting(exchange: Exchange) -> None:
        server.requests.clear()
        await reply(exchange)

    return forgetting


async def _held() -> tuple[int, int, int]:
    """Threads, tasks and open files of this process, the server's side of the last connections ended."""
    await asyncio.sleep(0.2)
    return threading.active_count(), len(asyncio.all_tasks()), len(_open_files())


def _open_files() -> list[Path]:
    return list(Path("/proc/self/fd").iterdir())


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize()

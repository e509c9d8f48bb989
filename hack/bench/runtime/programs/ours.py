# SPDX-License-Identifier: Apache-2.0
"""The bench's work on dglop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import dglop.runtime.client.kubeconfig  # noqa: F401 - else imported in the work, as the other sides' is not
from dglop import Channel, Manager, Request, Resource
from dglop.runtime.cache import Cache, serves_pages
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.settings import Settings
from hack.bench.runtime.programs.kinds import Widget
from hack.bench.runtime.programs.marks import arguments, mark
from hack.bench.runtime.programs.stalls import Stalls

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from dglop import Context
    from dglop.runtime.cache import Cached, Informer

_POD = Resource("", "v1", "Pod", "pods")
_SYNC_SECONDS = 600.0


def _app(obj: Cached) -> Iterable[str]:
    return (obj.meta.labels.get("app", ""),)


def _tier(obj: Cached) -> Iterable[str]:
    return (obj.meta.labels.get("tier", ""),)


def _team(obj: Cached) -> Iterable[str]:
    return (obj.meta.annotations.get("team", ""),)


class _Changes:
    """Counts changes of objects, and sees when there were enough."""

    def __init__(self, enough: int) -> None:
        self.reached = asyncio.Event()
        self._left = enough

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        """Nothing: only changes count."""

    def on_update(self, old: Cached, new: Cached) -> None:  # noqa: ARG002
        self._left -= 1
        if self._left == 0:
            self.reached.set()

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        """Nothing: only changes count."""


async def _follow(options: argparse.Namespace) -> None:
    mark("begun")
    changes = _Changes(1 if options.work == "relist" else options.count)
    indexers = {"app": _app, "tier": _tier, "team": _team} if options.work == "events" else {}
    async with await Client.connect(ClientConfig(kubeconfig=options.config)) as client:
        cache = Cache(client, pages=await serves_pages(client))  # as a Manager does
        informer = cache.informer(_POD, indexers=indexers)
        informer.add_handler(changes)
        await cache.start()
        await cache.wait_synced(_SYNC_SECONDS)
        mark("synced")
        if options.work == "relist":
            await _relisted(informer, changes)
        elif options.work == "events":
            await changes.reached.wait()
            mark("absorbed")
        else:
            await asyncio.sleep(1)
            mark("settled")
        await asyncio.Event().wait()


async def _relisted(informer: Informer, changes: _Changes) -> None:
    """From the moment that the state is read anew until the first change after it was seen."""
    stalls = Stalls()
    watching = asyncio.create_task(stalls.watch())
    await stalls.until(lambda: informer.health.relists > 0)
    stalls.forget()
    await changes.reached.wait()
    watching.cancel()
    mark("relisted", **stalls.figures())


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        kubeconfig=options.config,
        metrics_bind="0",
        health_bind="0",
        leader_elect=options.leader_elect,
        leader_election_namespace="default",
        log_format="json",
    )


async def _noop(options: argparse.Namespace) -> None:
    done = asyncio.Event()
    reconciled = 0

    async def reconcile(widget: Widget, ctx: Context) -> None:  # noqa: ARG001
        nonlocal reconciled
        reconciled += 1
        if reconciled % options.count == 0:
            done.set()

    channel: Channel[Request] = Channel()
    manager = Manager(_settings(options), name="bench-dglop")
    manager.controller(Widget, reconcile, watches=[channel])
    async with manager:
        await done.wait()  # those of the first list
        requests = [Request(each.namespace, each.name) for each in manager.cache.list(Widget)]
        mark("started")
        for _ in range(options.rounds):
            done.clear()
            for request in requests:
                channel.push(request)
            await done.wait()
        mark("done")
        await asyncio.Event().wait()


def _serve(options: argparse.Namespace) -> None:
    async def reconcile(widget: Widget, ctx: Context) -> None:  # noqa: ARG001
        if widget.status.phase != "Done":
            widget.status.phase = "Done"

    async def standing_by(stop: asyncio.Event) -> None:
        mark("standby")  # others run once the caches are full, whoever leads
        await stop.wait()

    mark("begun")
    manager = Manager(_settings(options), name="bench-dglop")
    manager.controller(Widget, reconcile)
    manager.add(standing_by, needs_leader=False)
    manager.main([])


def main() -> None:
    options = arguments("sync", "events", "relist", "noop", "serve")
    if options.work == "serve":
        _serve(options)
    else:
        asyncio.run(_noop(options) if options.work == "noop" else _follow(options))


if __name__ == "__main__":
    main()

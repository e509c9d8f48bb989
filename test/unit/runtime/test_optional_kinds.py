# SPDX-License-Identifier: Apache-2.0
"""Kinds that the server may not know yet: they are watched from when it does."""

from __future__ import annotations

import pytest

from dglop.errors import CacheNotSyncedError, ConfigError, ServerError
from dglop.runtime.api import CustomResource, Spec, Status, owner_reference
from dglop.runtime.client.mapper import Mapper
from dglop.runtime.handler import for_object
from dglop.runtime.settings import Settings
from dglop.runtime.source import Owned, Watch
from dglop.testing.memory import MemoryCluster


class Boss(CustomResource[Spec, Status], group="example.dev", version="v1"):
    """Owns minions."""


class Minion(CustomResource[Spec, Status], group="example.dev", version="v1"):
    """Is owned."""


async def _never(boss, ctx):
    raise AssertionError("nobody is reconciled here")


class Life:
    """A Manager that takes down whom it reconciles, and what it sees of minions then."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.seen = []
        # Each test says itself what the server serves, and when.
        self.manager = cluster.manager(Settings(metrics_bind="0", health_bind="0"))
        self.manager.controller(Boss, self.reconcile, owns=[Owned(Minion, optional=True)])

    async def reconcile(self, boss, ctx):
        try:
            self.seen.append([each.name for each in ctx.owned(Minion, boss)])
        except CacheNotSyncedError:
            self.seen.append(None)

    async def employ(self):
        boss = await self.cluster.client.create(Boss(name="b", namespace="default", spec=Spec()))
        await self.cluster.settle()
        return boss

    async def hire(self, boss):
        owner = {"ownerReferences": [owner_reference(boss)], "name": "m", "namespace": "default"}
        await self.cluster.client.create(
            {"apiVersion": "example.dev/v1", "kind": "Minion", "metadata": owner, "spec": {}}
        )
        await self.cluster.settle()


async def test_one_that_is_served_is_in_sync_before_anything_is_reconciled():
    async with MemoryCluster() as cluster:
        await cluster.install(Boss, Minion)
        life = Life(cluster)
        async with life.manager:
            await life.hire(await life.employ())
            assert life.seen == [[], ["m"]]


async def test_one_that_is_not_keeps_nobody_from_being_ready_and_is_watched_when_it_comes():
    async with MemoryCluster() as cluster:
        await cluster.install(Boss)
        life = Life(cluster)
        async with life.manager:
            life.manager.ready_checks["informers"]()
            boss = await life.employ()
            assert life.seen == [None]
            await cluster.install(Minion)
            await cluster.advance(30)
            await life.hire(boss)
            assert life.seen == [None, ["m"]]


async def test_a_server_that_does_not_say_what_it_serves_is_not_taken_to_serve_nothing(monkeypatch):
    async with MemoryCluster() as cluster:
        await cluster.install(Boss, Minion)
        life = Life(cluster)
        answers, real = [ServerError(503, "ServiceUnavailable", "starting")] * 3, Mapper.resource

        async def resource(self, kind, **kwargs):
            if answers and kind == "Minion":
                raise answers.pop()
            return await real(self, kind, **kwargs)

        monkeypatch.setattr(Mapper, "resource", resource)
        async with life.manager:
            boss = await life.employ()
            assert life.seen == [], "nobody is reconciled before it is known"
            await cluster.advance(5)
            await life.hire(boss)
            assert life.seen == [[], ["m"]]


async def test_rights_to_read_it_are_asked_for_like_any_other():
    async with MemoryCluster() as cluster:
        rules = Life(cluster).manager.rules()
        assert any("minions" in rule.resources and "watch" in rule.verbs for rule in rules)


async def test_one_of_another_cluster_or_with_an_informer_of_its_own_is_refused():
    async with MemoryCluster() as cluster, MemoryCluster() as other:
        manager = cluster.manager()
        west = manager.cluster("west", client=other.client)
        elsewhere = Watch(Minion, for_object, cluster=west, optional=True)
        chosen = Watch(Minion, for_object, informer=lambda cache: cache.informer(Minion), optional=True)
        with pytest.raises(ConfigError, match=r"minions\.example\.dev as optional"):
            manager.controller(Boss, _never, watches=[elsewhere], name="one")
        with pytest.raises(ConfigError, match=r"minions\.example\.dev as optional"):
            manager.controller(Boss, _never, watches=[chosen], name="two")
        with pytest.raises(ConfigError, match="own cluster"):
            manager.controller(
                Boss, _never, owns=[Owned(Minion, optional=True)], name="three", clusters=[west]
            )

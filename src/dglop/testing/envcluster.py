# SPDX-License-Identifier: Apache-2.0
"""EnvtestCluster: the tests that run on an API server in memory, on a real one."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any

from dglop.errors import NotFoundError
from dglop.runtime.api import Resource
from dglop.runtime.cache.consistency import differences_now
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.events import EVENT
from dglop.testing.cluster import TestCluster
from dglop.testing.eventlines import event_lines
from dglop.testing.skippingclock import SkippingClock

if TYPE_CHECKING:
    from dglop.runtime.cache import Informer
    from dglop.runtime.client.transport import Call
    from dglop.runtime.client.view import Send
    from dglop.runtime.settings import Settings
    from dglop.testing.envtest import Envtest

__all__ = ("EnvtestCluster",)

_NAMESPACE = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
_EVENTS_OF_CLUSTER = "default"  # where the server has events about what is in no namespace
_INSTEAD = (
    "for an operator of many namespaces have the fixture all_namespaces return True, "
    "or make the cluster with EnvtestCluster(..., all_namespaces=True)"
)
_PAUSE_SECONDS = 0.005
_CATCH_UP_SECONDS = 60.0


class EnvtestCluster(TestCluster):
    """
    A TestCluster on a running Envtest, with a namespace of its own to which client and Managers are bound.

    With *all_namespaces* they are not, as an operator for the whole cluster needs it: `namespace` is then
    only the one that is meant where none is named. Settings that state a namespace, "" for all among them,
    go before either.

    The clock is the machine's; `advance` and `until` move it ahead for the Managers, so that an hour's timer
    takes no hour, while the API server's own time (creationTimestamp, deletionTimestamp) goes on as it does.
    `settle` compares the Managers' caches with the server, and waits until nothing is under way. `events` are
    those of the last `settle` or `advance`: of its own namespace, or all, and since it was opened of what is
    in no namespace. Several can share one server, one after the other or at once; what is in no namespace,
    such as CRDs, is shared, and with *all_namespaces* what earlier ones left behind is seen.
    """

    def __init__(self, envtest: Envtest, *, namespace: str = "", all_namespaces: bool = False) -> None:
        super().__init__()
        self.clock: SkippingClock = SkippingClock()
        self.namespace: str = namespace or f"test-{uuid.uuid4().hex[:8]}"
        self.all_namespaces: bool = all_namespaces
        self._envtest = envtest
        self._plain: Client | None = None
        self._begun = 0
        self._ended = 0
        self._events: list[str] = []
        self._earlier: frozenset[str] = frozenset()

    @property
    def events(self) -> list[str]:
        return list(self._events)

    async def __aexit__(self, *exception: object) -> None:
        try:
            await super().__aexit__(*exception)
        finally:
            self.clock.close()

    async def _open(self) -> Client:
        self._plain = await Client.connect(self._config())
        try:
            await self._plain.get(_NAMESPACE, self.namespace)
        except NotFoundError:
            await self._plain.create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
            )
        self._earlier = frozenset(each["metadata"]["uid"] for each in await self._told(self._plain))
        return self._plain.intercepted(self._count)

    def _config(self) -> ClientConfig:
        path = self._envtest.kubeconfig_in(self.namespace)
        return ClientConfig(kubeconfig=str(path))

    def _view(self, client: Client) -> Client:
        return client if self.all_namespaces else client.in_namespace(self.namespace, instead=_INSTEAD)

    def _limited(self, settings: Settings) -> Settings:
        # A namespace that was stated is meant, also if it is "".
        if self.all_namespaces or "namespace" in settings.model_fields_set:
            return settings
        return settings.model_copy(update={"namespace": self.namespace})

    def _marks(self) -> tuple[int, ...]:
        return (self._begun, self._ended)

    async def _count(self, call: Call, send: Send) -> bytes:
        self._begun += 1
        try:
            return await send(call)
        finally:
            self._ended += 1

    async def _turn(self) -> None:
        await asyncio.sleep(0)
        end = time.monotonic() + _CATCH_UP_SECONDS
        while self._begun != self._ended:
            if time.monotonic() > end:
                raise TimeoutError(f"a request is under way for more than {_CATCH_UP_SECONDS:g} s")
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _is_caught_up(self) -> bool:
        end = time.monotonic() + _CATCH_UP_SECONDS
        while behind := await self._behind():
            if time.monotonic() > end:
                raise TimeoutError(f"not in the cache after {_CATCH_UP_SECONDS:g} s: {behind}")
            await asyncio.sleep(_PAUSE_SECONDS)
        seen = self._all_marks()
        if self._plain is not None:
            told = await self._told(self._plain)
            self._events = event_lines(each for each in told if each["metadata"]["uid"] not in self._earlier)
        # What has just come, or a timer of these moments, may have woken somebody. This is the last wait:
        # between it and what the caller does next with the clock nothing happens.
        await self._quiet()
        return self._all_marks() == seen

    async def _told(self, client: Client) -> list[dict[str, Any]]:
        """The events that a test can mean."""
        if self.all_namespaces:
            return await client.list(EVENT)
        own = await client.list(EVENT, self.namespace)
        if self.namespace == _EVENTS_OF_CLUSTER:
            return own
        others = await client.list(EVENT, _EVENTS_OF_CLUSTER)
        return [*own, *(each for each in others if not (each.get("regarding") or {}).get("namespace"))]

    async def _behind(self) -> str:
        """What the Managers' caches have otherwise than the API server; "" if nothing."""
        for informer in self._informers():
            if not informer.has_synced():
                return str(informer.health)
            if self._plain is not None and (found := await differences_now(self._plain, informer)):
                return f"{informer.health.kind}: {'; '.join(map(str, sorted(found)))}"
        return ""

    def _informers(self) -> list[Informer]:
        running = [each for each in self._managers if each.is_running]
        return [informer for each in running for informer in each.cache.informers]

# SPDX-License-Identifier: Apache-2.0
"""What a reconciler gets besides the object: reads from the cache, writes to the API, events, a clock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dglop.errors import SchemaError
from dglop.runtime.api import owner_reference, resource_of
from dglop.runtime.client import PatchType
from dglop.runtime.client.convert import typed, wire_of

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Coroutine
    from datetime import datetime

    from dglop.runtime.api import Kind
    from dglop.runtime.cache import Cache, Cached
    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.events import EventRecorder, EventType
    from dglop.runtime.log import Log
    from dglop.runtime.reconcile import Request

__all__ = ("Context",)

T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class _Note:
    obj: Any
    reason: str
    note: str
    type: EventType
    action: str
    related: Any


class Context:
    """
    One reconciliation.

    Reads come from the cache and cost no request; they may lag behind writes, one's own included. Where a
    namespace is left out, the reconciled object's is meant.
    """

    def __init__(
        self,
        request: Request,
        *,
        client: Client,
        cache: Cache,
        recorder: EventRecorder,
        clock: Clock,
        log: Log,
        reconcile_id: str,
        resource_version: str = "",
    ) -> None:
        self.request = request
        self.client = client
        self.cache = cache
        self.log = log
        self.reconcile_id = reconcile_id
        self.resource_version = resource_version
        """The version of the object that the reconciler knows, its own conditional writes included."""
        self._recorder = recorder
        self._clock = clock
        self._notes: list[_Note] = []
        self._callbacks: list[Callable[[], object]] = []
        self._loop = asyncio.get_running_loop()

    def __repr__(self) -> str:
        return f"Context({self.request}, {self.reconcile_id})"

    def now(self) -> datetime:
        """The time of day by the Manager's clock, aware, in UTC."""
        return self._clock.now()

    def get(self, kind: type[K], name: str, namespace: str | None = None) -> K | None:
        """A copy of an object from the cache. Raises CacheNotSyncedError before the first list."""
        cached = self.cached(kind, name, namespace)
        return None if cached is None else cached.to(kind)

    def list(self, kind: type[K], namespace: str | None = None, *, owner: Any = None) -> builtins.list[K]:
        """Copies of a namespace's objects from the cache, or of those that *owner* controls."""
        found = self.owned(kind, owner) if owner is not None else self.all_cached(kind, namespace)
        return [cached.to(kind) for cached in found]

    def cached(self, kind: Kind, name: str, namespace: str | None = None) -> Cached | None:
        """An object as the cache holds it, shared and unchangeable: for views of a few fields."""
        return self.cache.get(kind, name, self._namespace(kind, namespace) or "")

    def all_cached(self, kind: Kind, namespace: str | None = None) -> builtins.list[Cached]:
        """A namespace's objects as the cache holds them."""
        return self.cache.list(kind, namespace=self._namespace(kind, namespace))

    def owned(self, kind: Kind, owner: Any) -> builtins.list[Cached]:
        """The objects of *kind* whose controller is *owner*, as the cache holds them."""
        return self.cache.list(kind, index=("controller", owner_reference(owner)["uid"]))

    async def apply(self, obj: T, *, owner: Any = None, field_manager: str = "dglop") -> T:
        """Make the fields that *obj* states so, creating it if need be; *owner* becomes its controller."""
        wire = self._prepare(obj, owner)
        return self._typed_as(obj, await self.client.apply(wire, field_manager=field_manager))

    async def create(self, obj: T, *, owner: Any = None) -> T:
        """Create *obj*. Raises AlreadyExistsError if the name is taken."""
        return self._typed_as(obj, await self.client.create(self._prepare(obj, owner)))

    async def patch(
        self,
        kind: Kind,
        name: str,
        body: dict[str, Any] | builtins.list[Any],
        *,
        namespace: str | None = None,
        how: PatchType = PatchType.MERGE,
        subresource: str | None = None,
    ) -> Any:
        """Patch an object; an explicit null removes a field."""
        place = self._namespace(kind, namespace)
        return await self.client.patch(kind, name, place, body, how=how, subresource=subresource)

    async def delete(
        self,
        kind: Kind,
        name: str,
        *,
        namespace: str | None = None,
        uid: str | None = None,
        grace_seconds: int | None = None,
    ) -> None:
        """Delete an object, with *uid* only if it is that one. Raises NotFoundError, ConflictError."""
        place = self._namespace(kind, namespace)
        await self.client.delete(kind, name, place, uid=uid, grace_seconds=grace_seconds)

    def event(
        self,
        obj: Any,
        reason: str,
        note: str,
        *,
        type: EventType = "Normal",  # noqa: A002 - the field's name
        action: str = "Reconcile",
        related: Any = None,
        now: bool = False,
    ) -> None:
        """
        Tell people what happened to *obj*.

        It is posted once the status is written, and not at all if the reconciliation fails; with *now* it is
        posted in any case.
        """
        kept = _Note(obj, reason, note, type, action, related)
        if now:
            self._loop.call_soon_threadsafe(self._record, kept)
        else:
            self._notes.append(kept)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine from a reconciler that is a plain function, and wait for it in its thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def on_written(self, callback: Callable[[], object]) -> None:
        """Have *callback* called when the status is written, just before the events; for counting."""
        self._callbacks.append(callback)

    def finish(self) -> None:
        """Do what was kept back until the status is written; the controller calls this."""
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
        notes, self._notes = self._notes, []
        for note in notes:
            self._record(note)

    def _record(self, note: _Note) -> None:
        self._recorder.record(
            note.obj, note.reason, note.note, type_=note.type, action=note.action, related=note.related
        )

    def _namespace(self, kind: Kind, namespace: str | None) -> str | None:
        if not resource_of(kind).namespaced:
            return None
        return namespace or self.request.namespace or None

    def _prepare(self, obj: Any, owner: Any) -> dict[str, Any]:
        wire = wire_of(obj)
        metadata = dict(wire.get("metadata") or {})
        resource = resource_of(obj)
        if resource.namespaced and not metadata.get("namespace"):
            metadata["namespace"] = self.request.namespace
        if owner is not None:
            reference = owner_reference(owner)
            if not resource.namespaced and resource_of(owner).namespaced:
                raise SchemaError(
                    f"{resource.kind} {metadata.get('name')} is cluster-scoped, so {reference['kind']} in a "
                    "namespace cannot own it: the garbage collector would delete it"
                )
            others = [r for r in metadata.get("ownerReferences") or () if r.get("uid") != reference["uid"]]
            metadata["ownerReferences"] = [*others, reference]
        return {**wire, "metadata": metadata}

    def _typed_as(self, obj: T, wire: dict[str, Any]) -> T:
        result: Any = wire if isinstance(obj, dict) else typed(type(obj), wire)
        return cast("T", result)

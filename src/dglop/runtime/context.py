# SPDX-License-Identifier: Apache-2.0
"""What a reconciler gets besides the object: reads from the cache, writes to the API, events, a clock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dglop.runtime.api import owner_reference, resource_of
from dglop.runtime.api.ownership import check_owner, with_owner
from dglop.runtime.claim import Claims, labels_match
from dglop.runtime.client import PatchType
from dglop.runtime.client.convert import typed, wire_of
from dglop.runtime.ownchanges import OwnChanges
from dglop.runtime.ownwrites import written_of
from dglop.runtime.usercode import call_here, wait_in_thread

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Coroutine, Mapping
    from datetime import datetime

    from dglop.runtime.api import Kind, Resource
    from dglop.runtime.cache import Cache, Cached
    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.environment import Site
    from dglop.runtime.events import EventType
    from dglop.runtime.log import Log
    from dglop.runtime.ownwrites import Written
    from dglop.runtime.reader import Reader
    from dglop.runtime.reconcile import Request, Result

__all__ = ("Context",)

T = TypeVar("T")
K = TypeVar("K")

_APPLIED = ("labels", "annotations")


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
    One reconciliation, in the cluster that the request names.

    Reads come from the cache and cost no request; they may lag behind writes, one's own included. Where a
    namespace is left out, the reconciled object's is meant.
    """

    def __init__(
        self,
        request: Request,
        *,
        client: Client,
        site: Site,
        clock: Clock,
        log: Log,
        reconcile_id: str,
        resource: Resource | None = None,
        resource_version: str = "",
    ) -> None:
        self.request = request
        self.client = client
        self.cache: Cache = site.cache
        self.reader: Reader = site.reader
        """Reads that wait where `get` and `list` would raise: for a kind that nothing watches yet."""
        self.log = log
        self.reconcile_id = reconcile_id
        self.resource_version = resource_version
        """The version of the object that the reconciler knows, its own conditional writes included."""
        self._recorder = site.recorder
        self._clock = clock
        self.writes: list[Written] = []
        """What was written by `apply`, `create` and `patch` so far."""
        self.own_changes: OwnChanges = OwnChanges(resource, request)
        """What was done by `apply`, `patch` and `delete` to the reconciled object itself."""
        self.is_saved_anyway: bool = False
        self.later: Result | None = None
        """When to come back if the reconciler itself returns nothing, as a clean-up asked for it."""
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

    async def claim(
        self, kind: Kind, owner: Any, labels: Mapping[str, str], namespace: str | None = None
    ) -> builtins.list[Cached]:
        """
        The objects of *kind* that have *labels* and are *owner*'s, orphans adopted and others let go.

        They are as the cache holds them, an adopted one as it was before. The guarantees are Claims'.
        """
        claims = Claims(self.client, owner, labels_match(labels))
        return await claims.claim(self.all_cached(kind, namespace))

    async def apply(
        self, obj: T, *, owner: Any = None, field_manager: str | None = None, force: bool = True
    ) -> T:
        """
        Make the fields that *obj* states so, creating it if need be; *owner* becomes its controller.

        This is server-side apply: what *field_manager*, by default the Manager's name, applied earlier and
        states no more is removed. What others own is taken over, or without *force* refused: nothing is
        changed then. Raises FieldConflictError, which names the fields and who owns them.
        """
        wire, client, resource = self._prepared(obj, owner)
        made = await client.apply(wire, field_manager=field_manager, force=force, resource=resource)
        self._wrote(obj, made)
        metadata = wire["metadata"]
        content = {**wire, "metadata": {name: metadata[name] for name in _APPLIED if name in metadata}}
        content.pop("status", None)
        self.own_changes.patched(resource_of(obj), metadata.get("namespace"), metadata["name"], content)
        return self._typed_as(obj, made)

    async def create(self, obj: T, *, owner: Any = None) -> T:
        """Create *obj*. Raises AlreadyExistsError if the name is taken."""
        wire, client, resource = self._prepared(obj, owner)
        made = await client.create(wire, resource=resource)
        self._wrote(obj, made)
        return self._typed_as(obj, made)

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
        """Patch an object, by a merge patch unless *how* says otherwise; an explicit null removes a field."""
        place = self._namespace(kind, namespace)
        made = await self.client.patch(kind, name, place, body, how=how, subresource=subresource)
        if subresource in (None, "status"):
            self._wrote(kind, made)
            if how is PatchType.MERGE and isinstance(body, dict):
                self.own_changes.patched(resource_of(kind), place, name, body)
        return made

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
        self.own_changes.deleted(resource_of(kind), place, name)

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
        Tell people what happened to *obj*, in the list of events and in `kubectl describe`.

        *reason* is one word in CamelCase, *note* a sentence, *action* one word for what was done or tried,
        and *related* another object that it has to do with.

        It is posted once the status is written, and not at all if the reconciliation fails, unless
        `save_anyway` was called; with *now* it is posted in any case.
        """
        kept = _Note(obj, reason, note, type, action, related)
        if now:
            self._loop.call_soon_threadsafe(self._record, kept)
        else:
            self._notes.append(kept)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """
        Run a coroutine from a reconciler that is a plain function, and wait for it in its thread.

        Raises RuntimeError in a coroutine function, which awaits instead: waiting would stop the event loop.
        """
        return wait_in_thread(work, self._loop)

    def save_anyway(self) -> None:
        """
        Have the status written, and then events posted, although this reconciliation fails.

        Said before an error is raised, or at the beginning for whatever error may come. The error is counted
        and tried again as ever. What the status says should be the same at the next try: a change of it calls
        for a reconciliation at once, beside the one after the pause.
        """
        self.is_saved_anyway = True

    def on_written(self, callback: Callable[[], object]) -> None:
        """Have *callback* called when the status is written, just before the events; for counting."""
        self._callbacks.append(callback)

    def finish(self) -> None:
        """Do what was kept back until the status is written; the controller calls this."""
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            call_here(callback)
        notes, self._notes = self._notes, []
        for note in notes:
            self._record(note)

    def _wrote(self, kind: Kind, made: Any) -> None:
        self.writes.append(written_of(resource_of(kind), made))

    def _record(self, note: _Note) -> None:
        self._recorder.record(
            note.obj, note.reason, note.note, type_=note.type, action=note.action, related=note.related
        )

    def _namespace(self, kind: Kind, namespace: str | None) -> str | None:
        if not resource_of(kind).namespaced:
            return None
        return namespace or self.request.namespace or None

    def _prepared(self, obj: Any, owner: Any) -> tuple[dict[str, Any], Client, Resource | None]:
        """What to write, by which view of the client, and what it is where the type says so."""
        wire = self._prepare(obj, owner)
        if isinstance(obj, dict):
            return wire, self.client, None
        return wire, self.client.strict(), resource_of(obj)

    def _prepare(self, obj: Any, owner: Any) -> dict[str, Any]:
        wire = wire_of(obj)
        metadata = dict(wire.get("metadata") or {})
        resource = resource_of(obj)
        if resource.namespaced and not metadata.get("namespace"):
            metadata["namespace"] = self.request.namespace
        if owner is not None:
            check_owner(owner, {**wire, "metadata": metadata} if isinstance(obj, dict) else obj)
            held = metadata.get("ownerReferences") or []
            shown = f"{resource.kind} {metadata.get('name')}"
            metadata["ownerReferences"] = with_owner(held, owner, shown, controller=True)
        return {**wire, "metadata": metadata}

    def _typed_as(self, obj: T, wire: dict[str, Any]) -> T:
        result: Any = wire if isinstance(obj, dict) else typed(type(obj), wire)
        return cast("T", result)

# SPDX-License-Identifier: Apache-2.0
"""Mapper: from the names that people and manifests use to what the API server calls a kind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from dglop.errors import NoKindMatchError, NotFoundError, ServerError
from dglop.runtime.client.discovery import (
    AGGREGATED,
    Served,
    best_match,
    group_versions,
    read_aggregated,
    read_resources,
)

if TYPE_CHECKING:
    from dglop.runtime.api.resource import Resource

__all__ = ("Mapper",)

_Load = Callable[[], Awaitable[tuple[Served, ...]]]


class _Raw(Protocol):
    def __call__(self, method: str, path: str, *, accept: str = ...) -> Awaitable[bytes]: ...


class Mapper:
    """Knows the kinds of one API server, as far as it was asked.

    Guarantees: nothing is read before it is needed, and of a kind whose group and version are known only
    that version's list; a kind that is not known is looked for in a fresh answer, so a CRD that was
    installed meanwhile is seen. Raises NoKindMatchError where it is not there either.
    """

    def __init__(
        self,
        raw: _Raw,
        *,
        known: dict[str, tuple[Served, ...]] | None = None,
        reads: dict[str, int] | None = None,
    ) -> None:
        self._raw = raw
        self._known: dict[str, tuple[Served, ...]] = {} if known is None else known
        self._reads: dict[str, int] = {} if reads is None else reads
        self._lock = asyncio.Lock()

    def asking(self, raw: _Raw) -> Mapper:
        """The same knowledge, added to by *raw*, which may itself ask this one."""
        return Mapper(raw, known=self._known, reads=self._reads)

    async def resource(self, kind: str, *, group: str | None = None, version: str = "") -> Resource:
        """The resource of a kind by its name, in `group` ("" is the core group) or in any."""
        return (await self.served(kind, group=group, version=version)).resource

    async def find(self, name: str) -> Resource:
        """The resource that `name` means to kubectl.

        It is kind, plural, singular or short name, and may go on with `.group` or `.version.group`.
        """
        word, _, rest = name.partition(".")
        try:
            return await self.resource(word, group=rest or None)
        except NoKindMatchError:
            version, dot, group = rest.partition(".")
            if not dot:
                raise
            return await self.resource(word, group=group, version=version)

    async def served(self, kind: str, *, group: str | None = None, version: str = "") -> Served:
        """As `resource`, with verbs, subresources and the other names."""
        if group is not None and version:
            path = f"/apis/{group}/{version}" if group else f"/api/{version}"
            key, load = path, self._loader_of(path)
        else:
            key, load = "", self._load_all
        tried = self._reads.get(key, 0)
        for known in (key, ""):
            found = best_match(self._known.get(known, ()), kind, group=group, version=version)
            if found is not None:
                return found
        await self._read(key, load, since=tried)
        found = best_match(self._known[key], kind, group=group, version=version)
        if found is None:
            raise NoKindMatchError(
                f"the API server has no kind {_shown(kind, group, version)}; "
                "is its CRD installed, and the name spelt as `kubectl api-resources` shows it?"
            )
        return found

    async def all(self) -> tuple[Served, ...]:
        """Everything that is served, in the server's order, read anew."""
        await self._read("", self._load_all, since=self._reads.get("", 0))
        return self._known[""]

    async def _read(self, key: str, load: _Load, *, since: int) -> None:
        async with self._lock:
            # Of many that miss the same kind at once, one reads and all look again.
            if self._reads.get(key, 0) == since:
                self._known[key] = await load()
                self._reads[key] = since + 1

    def _loader_of(self, path: str) -> _Load:
        async def load() -> tuple[Served, ...]:
            try:
                return read_resources(await self._get(path))
            except NotFoundError:
                return ()

        return load

    async def _load_all(self) -> tuple[Served, ...]:
        found: list[Served] = []
        for root in ("/api", "/apis"):
            wire = await self._get(root, AGGREGATED)
            listed = read_aggregated(wire)
            if listed is None:
                for each in group_versions(wire):
                    listed = (*(listed or ()), *await self._loader_of(f"{root}/{each}")())
            found += listed or ()
        return tuple(found)

    async def _get(self, path: str, accept: str = "application/json") -> dict[str, Any]:
        body = await self._raw("GET", path, accept=accept)
        try:
            return msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.DecodeError as problem:
            raise ServerError(200, "NotJSON", f"{path} answered with no object: {problem}") from problem


def _shown(kind: str, group: str | None, version: str) -> str:
    if group is None:
        return repr(kind)
    return f"{kind!r} in {'/'.join(part for part in (group, version) if part) or 'the core group'}"

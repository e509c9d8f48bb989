# SPDX-License-Identifier: Apache-2.0
"""One collection of an API server in memory, with history, compaction, watches and faults."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.errors import ApiConnectionError, ApiError, GoneError, ServerError
from dglop.testing.scripted_cache import pod
from dglop.testing.scripted_replies import bookmark, event, expired

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

__all__ = ("PodWorld",)


class PodWorld:
    """Pods of one namespace as an API server keeps them; it is also the door a reflector asks.

    Every change has a version. `compact` forgets history, so that older versions answer 410. `fault`
    is raised by the next request or running watch.
    """

    def __init__(self, *, page: int = 2, streams: bool = True) -> None:
        self.version: int = 1
        self.pods: dict[str, dict[str, Any]] = {}
        self.fault: ApiError | None = None
        self._page = page
        self._streams = streams
        self._log: list[tuple[int, bytes]] = []
        self._snapshots: dict[int, list[dict[str, Any]]] = {}
        self._oldest = 1
        self._uids = 0
        self._epoch = 0
        self._changed = asyncio.Event()

    def put(self, name: str) -> None:
        """Creates the pod, or changes it."""
        old = self.pods.get(name)
        if old is None:
            self._uids += 1
        uid = old["metadata"]["uid"] if old else f"uid-{self._uids}"
        self.version += 1
        self.pods[name] = pod(name, self.version, uid)
        self._tell("MODIFIED" if old else "ADDED", self.pods[name])

    def remove(self, name: str) -> None:
        old = self.pods.pop(name, None)
        if old is not None:
            self.version += 1
            last: dict[str, Any] = {**old["metadata"], "resourceVersion": str(self.version)}
            self._tell("DELETED", {**old, "metadata": last})

    def compact(self) -> None:
        """Forgets all history; running watches end as expired."""
        self._oldest = self.version
        self._log.clear()
        self._snapshots.clear()
        self._cut()

    def cut(self) -> None:
        """Breaks all running watches."""
        self.fault = ApiConnectionError("cut", sent=True)
        self._cut()

    async def raw(self, method: str, path: str, *, query: Mapping[str, str], **_: Any) -> bytes:
        """A page of the list."""
        self._fail()
        token = query.get("continue")
        at, _colon, start = token.partition(":") if token else (str(self.version), "", "0")
        asked = query.get("resourceVersion", "")
        if token and int(at) < self._oldest:
            raise GoneError(410, "Expired", f"{method} {path}: the continue token is too old")
        if asked.isdecimal() and int(asked) > self.version:
            raise ServerError(504, "Timeout", "Too large resource version")
        objects = self._snapshots.setdefault(int(at), list(self.pods.values()))
        limit = int(query.get("limit", 0)) and self._page
        begin, end = int(start), int(start) + (limit or len(objects))
        metadata: dict[str, str] = {"resourceVersion": at} | (
            {"continue": f"{at}:{end}"} if end < len(objects) else {}
        )
        return msgspec.json.encode({"metadata": metadata, "items": objects[begin:end]})

    async def batches(
        self, path: str, *, query: Mapping[str, str], read_idle: float, accept: str
    ) -> AsyncGenerator[list[bytes], None]:
        """A watch."""
        del path, read_idle, accept
        self._fail()
        epoch, seen = self._epoch, int(query.get("resourceVersion") or "0")
        if query.get("sendInitialEvents"):
            if not self._streams:
                raise ApiError(422, "Invalid", "sendInitialEvents is forbidden")
            lines = [event("ADDED", each) for each in self.pods.values()]
            seen = self.version
            yield [*lines, bookmark(str(seen), ends_initial=True)]
        while True:
            if seen < self._oldest:
                yield [expired()]
                return
            lines = [line for version, line in self._log if version > seen]
            seen = self.version
            if lines:
                yield lines
            self._fail()
            if epoch != self._epoch:
                return
            if seen == self.version:
                self._changed.clear()
                await self._changed.wait()

    def _tell(self, type_: str, wire: dict[str, Any]) -> None:
        self._log.append((self.version, event(type_, wire)))
        self._changed.set()

    def _cut(self) -> None:
        self._epoch += 1
        self._changed.set()

    def _fail(self) -> None:
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault

# SPDX-License-Identifier: Apache-2.0
"""MemoryServer: an API server that is an object; requests in, answers out, no I/O."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.runtime.clock import SystemClock
from dglop.testing.memory.crds import CrdServer
from dglop.testing.memory.deletes import DeleteOptions, Deletes
from dglop.testing.memory.discovery import discover
from dglop.testing.memory.faults import Faults
from dglop.testing.memory.fieldset import Shape
from dglop.testing.memory.reads import Reads, partial
from dglop.testing.memory.refusal import RefusalError, not_found
from dglop.testing.memory.request import Answer, Options, Target
from dglop.testing.memory.resources import Registry
from dglop.testing.memory.schema import Schemas
from dglop.testing.memory.selectors import read_selectors
from dglop.testing.memory.store import Store
from dglop.testing.memory.subresources import SubresourceServer
from dglop.testing.memory.watching import error_line
from dglop.testing.memory.writeparts import WriteParts
from dglop.testing.memory.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dglop.runtime.clock import Clock
    from dglop.testing.memory.request import Request
    from dglop.testing.memory.store import Change
    from dglop.testing.memory.watching import Watcher

__all__ = ("MemoryServer",)

_JSON = {"Content-Type": "application/json"}


class MemoryServer:
    """
    The API server's semantics on objects in memory.

    It may be asked from several threads. `clock` says what time things happened and when watches end.
    `on_unknown` is called with the path of a resource that is not served, and may make it so by installing
    a CRD; it says whether to look again.
    """

    def __init__(self, clock: Clock | None = None, *, namespaces: Iterable[str] = ("default",)) -> None:
        self.clock: Clock = clock or SystemClock()
        self.store: Store = Store()
        self.registry: Registry = Registry()
        self.faults: Faults = Faults()
        self.on_unknown: Callable[[str], bool] = lambda _: False
        self.after_write: list[Callable[[], None]] = []
        self.requests: int = 0
        """How many requests came so far."""
        self._lock = threading.RLock()
        self._watchers: list[Watcher] = []
        shape = Shape(Schemas(self.registry.types))
        self._reads = Reads(self.store, self.clock)
        self._writes = Writes(WriteParts(self.store, self.registry, shape, self.clock))
        self.deletes: Deletes = Deletes(self.store, self.clock)
        self._subresources = SubresourceServer(self.store, self._writes, self.deletes)
        CrdServer(self.store, self.registry, self.clock)
        self.store.subscribe(self._heard)
        for name in namespaces:
            self.add_namespace(name)
        self.store.compact()  # a real server's history does not reach back to the beginning either

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        """The watches that are open."""
        return tuple(self._watchers)

    def add_namespace(self, name: str) -> None:
        """Make a namespace, if it is not there."""
        info = self.registry.find("", "v1", "namespaces")
        if info is not None and self.store.get("namespaces", ("", name)) is None:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self._writes.create(Target(info, None), msgspec.json.encode(body), Options("memory"))

    def compact(self) -> None:
        """Forget history: watches and pages from before get 410; those that are open go on."""
        with self._lock:
            self.store.compact()

    def end_watches(self, *, expired: bool = False) -> None:
        """End all open watches properly, or with the 410 of a history that is gone."""
        with self._lock:
            for watcher in self.watchers:
                if expired:
                    text = f"too old resource version: {self.store.version}"
                    watcher.push(error_line(RefusalError(410, "Expired", text)))
                watcher.end()

    def handle(self, request: Request) -> Answer:
        """The answer to *request*, faults aside."""
        with self._lock:
            self.requests += 1
            try:
                answer = self._route(request)
            except RefusalError as error:
                headers = {"Content-Type": "text/plain"} if error.is_plain else _JSON
                if error.retry_after:
                    headers = {**headers, "Retry-After": f"{error.retry_after:g}"}
                return Answer(error.code, error.body(), {**headers, **_warned(error.warnings)})
            if request.method != "GET":
                for follow in list(self.after_write):
                    follow()
            return answer

    def _route(self, request: Request) -> Answer:
        if request.path in ("/healthz", "/livez", "/readyz"):
            return Answer(200, b"ok", {"Content-Type": "text/plain"})
        document = discover(self.registry, request.path) if request.method == "GET" else None
        if document is not None:
            return _answer(document)
        target = self._target(request.path)
        if target.subresource and target.subresource not in target.info.subresources:
            raise not_found(target.info, target.name)
        if target.subresource and target.subresource != "status":
            code, wire = self._subresources.handle(target, request)
            return _answer(wire, code)
        if request.is_watch:
            return self._watch(target, request)
        return self._object(target, request) if target.name else self._collection(target, request)

    def _object(self, target: Target, request: Request) -> Answer:
        match request.method:
            case "GET":
                return Answer(200, self._reads.get(target, request), _JSON)
            case "PUT":
                options = Options.of(request, "UpdateOptions")
                return _written(request, self._writes.replace(target, request.body, options))
            case "PATCH":
                options = Options.of(request, "PatchOptions")
                if request.content_type.startswith("application/apply-patch"):
                    options = Options(
                        request.query.get("fieldManager", ""),
                        options.dry_run,
                        options.validation,
                        options.force,
                    )
                written, made = self._writes.patch(target, request.content_type, request.body, options)
                return _written(request, written, 201 if made else 200)
            case "DELETE":
                return _answer(self.deletes.delete(target, DeleteOptions.of(request)))
        raise _not_allowed()

    def _collection(self, target: Target, request: Request) -> Answer:
        match request.method:
            case "GET":
                return Answer(200, self._reads.list(target, request), _JSON)
            case "POST":
                review = self._subresources.review(target, request)
                if review is not None:
                    return _answer(review, 201)
                options = Options.of(request, "CreateOptions")
                return _written(request, self._writes.create(target, request.body, options), 201)
            case "DELETE":
                return self._delete_all(target, request)
        raise _not_allowed()

    def _delete_all(self, target: Target, request: Request) -> Answer:
        body = self._reads.list(target, request)
        query = request.query
        selector = read_selectors(target.info, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        options = DeleteOptions.of(request)
        for each in self.store.all(target.info.storage, target.namespace):
            if selector is None or selector(each.wire):
                metadata = each.wire["metadata"]
                one = Target(target.info, metadata.get("namespace"), metadata["name"])
                self.deletes.delete(one, options)
        return Answer(200, body, _JSON)

    def _watch(self, target: Target, request: Request) -> Answer:
        watcher = self._reads.watch(target, request)
        if not watcher.is_ended:
            self._watchers.append(watcher)
            watcher.on_end = self._forget
        return Answer(200, b"", _JSON, watcher)

    def _forget(self, watcher: Watcher) -> None:
        self._watchers = [each for each in self._watchers if each is not watcher]

    def _heard(self, storage: str, change: Change) -> None:
        for watcher in self._watchers:
            if watcher.storage == storage:
                watcher.offer(change)

    def _target(self, path: str) -> Target:
        target = self._known(path)
        if target is None and self.on_unknown(path):
            target = self._known(path)
        if target is None:
            raise self._unknown(path)
        return target

    def _known(self, path: str) -> Target | None:
        parts = path.strip("/").split("/")
        if parts[0] == "api" and len(parts) > 2:
            group, version, rest = "", parts[1], parts[2:]
        elif parts[0] == "apis" and len(parts) > 3:
            group, version, rest = parts[1], parts[2], parts[3:]
        else:
            return None
        namespace = None
        if rest[0] == "namespaces" and len(rest) > 2:
            info = self.registry.find(group, version, rest[2])
            if info is not None and info.namespaced:
                namespace, rest = rest[1], rest[2:]
        info = self.registry.find(group, version, rest[0])
        if (
            info is None
            or len(rest) > 3
            or (len(rest) == 3 and not info.is_custom and rest[2] not in info.subresources)
        ):
            return None
        return Target(info, namespace, *rest[1:])

    def _unknown(self, path: str) -> RefusalError:
        parts = path.strip("/").split("/")
        group = parts[1] if parts[0] == "apis" and len(parts) > 1 else ""
        version = parts[2] if parts[0] == "apis" and len(parts) > 2 else parts[1] if len(parts) > 1 else ""
        if any(
            (each.group, each.version, each.is_custom) == (group, version, False) for each in self.registry
        ):
            return RefusalError(404, "NotFound", "the server could not find the requested resource")
        return RefusalError(404, "NotFound", "404 page not found", is_plain=True)


def _not_allowed() -> RefusalError:
    message = "the server does not allow this method on the requested resource"
    return RefusalError(405, "MethodNotAllowed", message)


def _written(request: Request, written: tuple[dict[str, Any], list[str]], code: int = 200) -> Answer:
    wire, warnings = written
    if "as=PartialObjectMetadata" in request.accept:
        wire = partial(wire)
    return Answer(code, msgspec.json.encode(wire), {**_JSON, **_warned(warnings)})


def _warned(warnings: list[str]) -> dict[str, str]:
    texts = [f"299 - {msgspec.json.encode(each).decode()}" for each in warnings]
    return {"Warning": ", ".join(texts)} if texts else {}


def _answer(wire: dict[str, Any], code: int = 200) -> Answer:
    return Answer(code, msgspec.json.encode(wire), _JSON)

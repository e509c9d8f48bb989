# SPDX-License-Identifier: Apache-2.0
"""Keeps a controller from reconciling on what is older than its own last writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dglop.runtime.api.selector import label_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dglop.runtime.api import Resource
    from dglop.runtime.cache import Cache
    from dglop.runtime.reconcile import Request

__all__ = ("OtherWrites", "OwnWrites", "Written", "is_older", "written_of")

PATIENCE_SECONDS = 30.0


def is_older(version: str, other: str) -> bool:
    """
    Whether resource version *version* came before *other*.

    They compare as decimal numbers (KEP-5504); where they are none, only equality can be told, and what is
    not equal is taken for older.
    """
    if version.isdigit() and other.isdigit():
        return int(version) < int(other)
    return version != other


@dataclass(slots=True)
class _Write:
    version: str
    at: float
    is_waited_for: bool = False


class OwnWrites:
    """
    The resource versions of writes that the cache has not shown yet, by request.

    A write that does not show up within half a minute is given up: the object may have been deleted and made
    again, and the precondition of the next write finds out the truth.
    """

    def __init__(self) -> None:
        self._writes: dict[Request, _Write] = {}

    def __len__(self) -> int:
        return len(self._writes)

    def wrote(self, request: Request, version: str, now: float) -> None:
        self._writes[request] = _Write(version, now)

    def is_stale(self, request: Request, version: str, now: float) -> bool:
        """Whether the cache's *version* must not be acted on; if so, `seen` will say when it may."""
        write = self._writes.get(request)
        if write is None:
            return False
        if not is_older(version, write.version) or now - write.at >= PATIENCE_SECONDS:
            del self._writes[request]
            return False
        write.is_waited_for = True
        return True

    def seen(self, request: Request, version: str) -> bool:
        """The cache shows *version* now; whether somebody has waited for that."""
        write = self._writes.get(request)
        if write is None or is_older(version, write.version):
            return False
        del self._writes[request]
        return write.is_waited_for

    def forget(self, request: Request) -> None:
        self._writes.pop(request, None)


@dataclass(frozen=True, slots=True)
class Written:
    """One object as it was written: what it is, where, its new version, and its labels."""

    resource: Resource
    namespace: str
    version: str
    labels: Mapping[str, str]


def written_of(resource: Resource, made: Any) -> Written:
    """What the API server made of a write: an object of a type, or a wire dict."""
    if isinstance(made, dict):
        held = made["metadata"]
        read = (held.get("namespace"), held.get("resourceVersion"), held.get("labels"))
    else:
        held = made.metadata
        read = (held.namespace, held.resource_version, held.labels)
    return Written(resource, read[0] or "", read[1] or "", read[2] or {})


class OtherWrites:
    """
    The writes of other objects that the cache has not shown yet, by the request that made them.

    Only what is cached counts: a kind with an informer, in a namespace and with labels that it keeps. One
    that does not show up within half a minute is given up, as with OwnWrites.
    """

    def __init__(self) -> None:
        self._writes: dict[Request, tuple[tuple[Written, ...], float]] = {}

    def wrote(self, request: Request, writes: Iterable[Written], now: float) -> None:
        """A reconciliation of *request* has ended that made *writes*."""
        if made := tuple(writes):
            self._writes[request] = (made, now)

    def is_behind(self, request: Request, cache: Cache, now: float) -> bool:
        """Whether the cache does not show yet what the last reconciliation of *request* wrote."""
        made, at = self._writes.pop(request, ((), 0.0))
        if now - at >= PATIENCE_SECONDS:
            return False
        missing = tuple(each for each in made if not _is_shown(each, cache))
        if missing:
            self._writes[request] = (missing, at)
        return bool(missing)

    def forget(self, request: Request) -> None:
        self._writes.pop(request, None)


def _is_shown(written: Written, cache: Cache) -> bool:
    if not cache.holds(written.resource):
        return True
    informer = cache.informer(written.resource)
    scopes = [scope for scope in informer.scopes if scope.covers(written.namespace)]
    if any(scope.fields or not label_test(scope.labels)(written.labels) for scope in scopes):
        return True  # it may never show up
    return informer.has_shown(written.version, written.namespace)

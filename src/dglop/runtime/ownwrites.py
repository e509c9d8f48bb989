# SPDX-License-Identifier: Apache-2.0
"""Keeps a controller from reconciling an object that is older than its own last write to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dglop.runtime.reconcile import Request

__all__ = ("OwnWrites", "is_older")

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

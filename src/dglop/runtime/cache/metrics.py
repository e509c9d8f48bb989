# SPDX-License-Identifier: Apache-2.0
"""What the cache tells of itself; dglop.runtime.metrics turns it into Prometheus series."""

from __future__ import annotations

from typing import Protocol

__all__ = ("CacheMetrics",)


class CacheMetrics(Protocol):
    """Is told what informers do; `kind` is `plural.group`."""

    def kept(self, kind: str) -> None:
        """A kind is cached from now on: its series exist from here, so that rates do."""
        ...

    def synced(self, kind: str, value: bool) -> None: ...

    def items(self, kind: str, count: int) -> None: ...

    def event(self, kind: str, type_: str) -> None: ...

    def relist(self, kind: str, reason: str) -> None: ...

    def failure(self, kind: str, reason: str) -> None: ...

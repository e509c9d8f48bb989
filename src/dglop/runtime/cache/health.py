# SPDX-License-Identifier: Apache-2.0
"""How an informer is doing."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("InformerHealth",)


@dataclass(slots=True)
class InformerHealth:
    """What readiness and people ask of an informer.

    `last_activity` is when something last came from the server, in seconds of the cache's monotonic
    clock. `consecutive_failures` counts since then.
    """

    kind: str
    synced: bool = False
    last_activity: float = 0.0
    consecutive_failures: int = 0
    last_error: str = ""
    relists: int = 0

    def __str__(self) -> str:
        if self.consecutive_failures:
            return f"{self.kind}: {self.consecutive_failures} failures in a row, last: {self.last_error}"
        return f"{self.kind}: {'in sync' if self.synced else 'waiting for the first list'}"

# SPDX-License-Identifier: Apache-2.0
"""How an informer is doing."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("InformerHealth",)


@dataclass(slots=True)
class InformerHealth:
    """What readiness and people ask of an informer.

    `last_activity` is when something last came from the server, in seconds of the cache's monotonic
    clock. `consecutive_failures` counts since then, from `failing_since` on by the same clock.
    `is_unserved` says that the last failure was the API server's word that it has no such kind.
    """

    kind: str
    synced: bool = False
    last_activity: float = 0.0
    consecutive_failures: int = 0
    failing_since: float = 0.0
    is_unserved: bool = False
    last_error: str = ""
    relists: int = 0

    def __str__(self) -> str:
        if self.consecutive_failures:
            said = f"{self.kind}: {self.consecutive_failures} failures in a row, last: {self.last_error}"
            hint = "; the API server does not serve it: is its CRD installed?" if self.is_unserved else ""
            return said + hint
        return f"{self.kind}: {'in sync' if self.synced else 'waiting for the first list'}"

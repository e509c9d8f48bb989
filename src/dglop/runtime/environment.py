# SPDX-License-Identifier: Apache-2.0
"""What a started Manager shares with everything that it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.cache import Cache
    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.events import EventRecorder
    from dglop.runtime.log import Log
    from dglop.runtime.metrics import Metrics

__all__ = ("Environment",)


@dataclass(frozen=True, slots=True)
class Environment:
    """
    The shared parts.

    Attributes
    ----------
        may_write: whether this process may act at this moment; False from when a lease has run out.
        new_id: makes identifiers that are unique.
        sync_seconds: how long the first lists may take.
    """

    client: Client
    cache: Cache
    recorder: EventRecorder
    metrics: Metrics
    clock: Clock
    log: Log
    new_id: Callable[[], str]
    may_write: Callable[[], bool]
    sync_seconds: float

# SPDX-License-Identifier: Apache-2.0
"""What a started Manager shares with everything that it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dglop.runtime.cache import Cache
    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.events import EventRecorder
    from dglop.runtime.log import Log
    from dglop.runtime.metrics import Metrics
    from dglop.runtime.reader import Reader

__all__ = ("HOME", "Environment", "Site")

HOME = ""
"""The name of the cluster that a Manager itself belongs to."""


@dataclass(frozen=True, slots=True)
class Site:
    """What there is for each cluster."""

    client: Client
    cache: Cache
    recorder: EventRecorder
    reader: Reader


@dataclass(frozen=True, slots=True)
class Environment:
    """
    The shared parts.

    Attributes
    ----------
        sites: by the cluster's name.
        may_write: whether this process may act at this moment; False from when a lease has run out.
        new_id: makes identifiers that are unique.
        sync_seconds: how long the first lists may take.
    """

    sites: Mapping[str, Site]
    metrics: Metrics
    clock: Clock
    log: Log
    new_id: Callable[[], str]
    may_write: Callable[[], bool]
    sync_seconds: float

    @property
    def home(self) -> Site:
        return self.sites[HOME]

# SPDX-License-Identifier: Apache-2.0
"""Pods that do not start for so long that an object of the job's, which they mount, may be gone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from dglop.common.views import PodView

__all__ = ("PATIENCE", "stuck_in")

PATIENCE: Final = timedelta(seconds=30)
"""How long a pod may wait for its volumes before the job's objects are asked for again."""


def stuck_in(pods: Iterable[PodView], now: datetime) -> timedelta | None:
    """How long until the first pod has waited too long, zero where one has; None where none waits."""
    since = [each for pod in pods if (each := _waits_since(pod))]
    return max(min(since) + PATIENCE - now, timedelta(0)) if since else None


def _waits_since(pod: PodView) -> datetime | None:
    """Since when a pod has a node and no volumes, or no node for want of its claim."""
    if pod.is_terminating or pod.phase != "Pending" or pod.condition_is("PodReadyToStartContainers", "True"):
        return None
    scheduled = pod.condition("PodScheduled")
    if scheduled is None:
        return None
    if scheduled.status != "True" and "persistentvolumeclaim" not in (scheduled.message or ""):
        return None
    every = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    if any(each.state.running or each.state.terminated for each in every):
        return None
    return scheduled.last_transition_time or pod.metadata.creation_timestamp

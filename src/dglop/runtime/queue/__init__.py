# SPDX-License-Identifier: Apache-2.0
"""The priority work queue and its rate limits."""

from __future__ import annotations

from dglop.runtime.queue.ratelimit import ExponentialBackoff, MaxOf, RateLimiter, TokenBucket
from dglop.runtime.queue.schedule import Item, Schedule
from dglop.runtime.queue.workqueue import QueueMetrics, WorkQueue

__all__ = (
    "ExponentialBackoff",
    "Item",
    "MaxOf",
    "QueueMetrics",
    "RateLimiter",
    "Schedule",
    "TokenBucket",
    "WorkQueue",
)

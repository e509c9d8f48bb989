# SPDX-License-Identifier: Apache-2.0
"""Kueue: jobs wait in a queue until there is quota for all their pods, and give it back when told to."""

from __future__ import annotations

from dglop.common.kueue.decide import QueuePlan, QueueSeen, queue_plan
from dglop.common.kueue.podsetinfo import PodSetInfo, QueueAdmission

__all__ = ("PodSetInfo", "QueueAdmission", "QueuePlan", "QueueSeen", "queue_plan")

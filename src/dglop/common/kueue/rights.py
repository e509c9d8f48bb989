# SPDX-License-Identifier: Apache-2.0
"""What the operator must be allowed for Kueue's queues, beside what it may without."""

from __future__ import annotations

from typing import Any, Final

from dglop.common.constants import PRIORITY_CLASS
from dglop.common.kueue.names import FLAVOR, WORKLOAD, WORKLOAD_PRIORITY
from dglop.runtime.api import Rule

__all__ = ("KUEUE_CLUSTER_RULES", "kueue_rules", "queued_rules")


def kueue_rules(*kinds: Any) -> tuple[Rule, ...]:
    """The rights, where the jobs are, to keep Workloads and to suspend and resume jobs of *kinds*."""
    return (
        *queued_rules(*kinds),
        Rule.of(WORKLOAD, "create", "delete", "get", "list", "patch", "watch"),
        Rule.of(WORKLOAD, "patch", subresource="status"),
    )


def queued_rules(*kinds: Any) -> tuple[Rule, ...]:
    """The rights that each of *kinds* needs besides: to suspend and resume its jobs."""
    return tuple(Rule.of(kind, "patch") for kind in kinds)


KUEUE_CLUSTER_RULES: Final = (
    Rule.of(FLAVOR, "get", "list", "watch"),
    Rule.of(WORKLOAD_PRIORITY, "get"),
    Rule.of(PRIORITY_CLASS, "get", "list"),
)
"""To know flavors and what classes are worth, which are in no namespace."""

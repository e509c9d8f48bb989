# SPDX-License-Identifier: Apache-2.0
"""What became of a plan when it was carried out."""

from __future__ import annotations

from dataclasses import dataclass, field

from dglop.common.reasons import Reason

__all__ = ("Report",)


@dataclass(slots=True)
class Report:
    """
    What became of a plan.

    Attributes
    ----------
        created, deleted: how many pods were.
        pods_failed: how many pods the server did not take.
        services_created, services_failed: how many Services were, and how many it did not take.
        groups_created, groups_deleted: how many PodGroups were.
        refused: the server's words about a child that it will never take.
        denied: the server's words about a child that it does not take now, as beyond a quota.
        denied_as: the reason that goes with them.
        blocked: children whose names are taken by objects of others.
        remade: objects that were gone while pods waited for them.
        asked: whether the server was asked about one of those, so that it should not be asked at once again.
    """

    created: int = 0
    deleted: int = 0
    pods_failed: int = 0
    services_created: int = 0
    services_failed: int = 0
    groups_created: int = 0
    groups_deleted: int = 0
    refused: str = ""
    denied: str = ""
    denied_as: Reason = Reason.FAILED_CREATE_POD
    blocked: list[str] = field(default_factory=list)
    remade: list[str] = field(default_factory=list)
    asked: bool = False

    @property
    def is_stopped(self) -> bool:
        """Whether going on to create is of no use."""
        return bool(self.refused or self.denied)

    def lacks(self, kind: str) -> None:
        """Count a child of this kind that the server did not take."""
        self.pods_failed += kind == "Pod"
        self.services_failed += kind == "Service"

    def deny(self, reason: Reason, note: str) -> None:
        """Say that the server does not take a child now."""
        self.denied, self.denied_as = note, reason

    @property
    def trouble(self) -> tuple[str, str] | None:
        """Reason and sentence of what keeps children from being created."""
        if self.denied:
            return self.denied_as, self.denied
        if self.blocked:
            return Reason.RESOURCE_EXISTS, "; ".join(self.blocked[:3])
        return None

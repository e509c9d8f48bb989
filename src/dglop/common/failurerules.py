# SPDX-License-Identifier: Apache-2.0
"""Rules of a job's own for what follows from a failure, which go before restartPolicy."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dglop.runtime.api.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ("FailureAction", "FailureRule", "first_rule", "rule_problems")

_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"


class FailureAction(StrEnum):
    """What follows from a failure."""

    FAIL = "Fail"
    """The job has failed."""
    RESTART_JOB = "RestartJob"
    """It is tried again, held against backoffLimit."""
    RESTART_JOB_IGNORE_LIMIT = "RestartJobIgnoreLimit"
    """It is tried again as after a disruption, held against disruptionLimit alone."""


class FailureRule(Spec):
    """What follows from failures that are like this; all that is stated must hold."""

    name: str = Field(min_length=1, max_length=63, pattern=_NAME)
    """Named where the rule decides."""
    action: FailureAction
    """Fail, RestartJob, or RestartJobIgnoreLimit."""
    on_exit_codes: list[Annotated[int, Field(ge=1, le=255)]] = Field(default_factory=list, max_length=255)
    """Exit codes of the container that decides; any, and none too, where nothing is said."""
    on_pod_reasons: list[Annotated[str, Field(min_length=1, max_length=128)]] = Field(
        default_factory=list, max_length=32
    )
    """Reasons, such as OOMKilled, Evicted or Deleted; any where nothing is said."""
    target_replicas: list[Annotated[str, Field(min_length=1, max_length=63)]] = Field(
        default_factory=list, max_length=16
    )
    """Replica types; any where nothing is said."""

    def matches(self, role: str, exit_code: int | None, reason: str) -> bool:
        """Whether a failure of a replica of `role` is like this."""
        return (
            (not self.target_replicas or role in self.target_replicas)
            and (not self.on_exit_codes or exit_code in self.on_exit_codes)
            and (not self.on_pod_reasons or reason in self.on_pod_reasons)
        )


def first_rule(
    rules: Iterable[FailureRule], role: str, exit_code: int | None, reason: str
) -> FailureRule | None:
    """The rule that decides: the first that matches."""
    return next((each for each in rules if each.matches(role, exit_code, reason)), None)


def rule_problems(rules: Sequence[FailureRule], roles: Iterable[str]) -> Iterator[str]:
    """What is wrong with rules for a job of these replica types, in sentences."""
    known, seen = set(roles), set[str]()
    for each in rules:
        if each.name in seen:
            yield f"failureRules has {each.name!r} twice; give each rule a name of its own"
        seen.add(each.name)
        strange = sorted(set(each.target_replicas) - known)
        if strange:
            yield (
                f"failureRules {each.name!r}: targetReplicas names {', '.join(strange)}; the job has "
                f"{', '.join(sorted(known))}"
            )

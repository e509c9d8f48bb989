# SPDX-License-Identifier: Apache-2.0
"""Index ranges, finished indexes and the counts of replicaStatuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.types import ReplicaStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from dglop.common.views import PodView

__all__ = ("format_ranges", "parse_ranges", "replica_status")


def parse_ranges(text: str, within: int) -> set[int]:
    """The numbers of `0-2,5` below `within`; a person may have edited them: what is no range is left out."""
    found: set[int] = set()
    for part in filter(None, text.replace(" ", "").split(",")):
        first, dash, last = part.partition("-")
        if _is_number(first) and (_is_number(last) if dash else True):
            low, high = _clipped(first, within), _clipped(last if dash else first, within)
            found.update(range(low, min(high + 1, within)))
    return found


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()  # "²" is a digit too, yet no number to int()


def _clipped(digits: str, within: int) -> int:
    """The number, or `within` for one of so many digits that it is beyond; int() refuses some thousands."""
    return min(int(digits), within) if len(digits) < 20 else within


def format_ranges(numbers: Iterable[int]) -> str:
    """The shortest `0-2,5` for the numbers: its size follows the gaps, not the count."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def replica_status(
    pods: Sequence[PodView],
    *,
    wanted: int,
    completed: Collection[int],
    created: Collection[int],
    selector: str,
    before: ReplicaStatus | None = None,
    attempt: int | None = None,
    leaving_is_active: bool = False,
) -> ReplicaStatus:
    """The counts of one replica type, from its pods within range.

    A finished index counts as succeeded whether its pod is still there or not. So does a pod that serves on
    after its work was done, though its index is never finished: it may have to be made again. `before` are
    the counts of a finished job, which keeps them when its pods go. Ready are those of `attempt` alone, if
    one is given. A suspended job's pods are active until they are gone (`leaving_is_active`): a queue gives
    their quota away.
    """
    alive = [pod for pod in pods if not pod.is_terminating]
    active = [pod for pod in alive if pod.is_active]
    if leaving_is_active:
        active = [pod for pod in pods if pod.phase == "Running"]
    present = [pod for pod in alive if attempt in (None, pod.attempt)]
    done = {pod.index for pod in present if pod.is_succeeded}.union(completed)
    ready = done.union(pod.index for pod in present if pod.is_ready)
    succeeded, failed = len(done), sum(pod.is_failed for pod in alive)
    if before is not None:
        succeeded, failed = max(before.succeeded, succeeded), max(before.failed, failed)
    return ReplicaStatus(
        active=len(active),
        succeeded=succeeded,
        failed=failed,
        pending=sum(pod.phase == "Pending" and not pod.is_failed for pod in alive),
        terminating=len(pods) - len(alive),
        ready=f"{max(len(ready), succeeded)}/{wanted}",
        selector=selector,
        completed_indexes=format_ranges(completed),
        created_indexes=format_ranges(created),
    )

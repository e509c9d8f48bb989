# SPDX-License-Identifier: Apache-2.0
"""What a reconciler is asked and what it may answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

__all__ = ("Request", "Result")


@dataclass(frozen=True, slots=True, order=True)
class Request:
    """The identity of an object; never what happened to it."""

    namespace: str
    name: str
    cluster: str = ""
    """The name of the Manager's further Cluster that it is in; "" is the Manager's own."""

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.cluster}:{name}" if self.cluster else name


@dataclass(frozen=True, slots=True)
class Result:
    """
    When to reconcile again, if nothing changes before.

    Attributes
    ----------
        requeue_after: forget earlier failures and come back after this long: at once where the time is over,
            as what is reckoned from a deadline may be; None where there is nothing to come back for.
        requeue: come back after the key's back-off, as after an error, but silently.
        priority: the priority to come back with; None keeps the present one.

    Raises TypeError for values of other types: a number would leave open what it counts.
    """

    requeue_after: timedelta | None = None
    requeue: bool = False
    priority: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.requeue_after, timedelta | None):
            raise TypeError(
                f"requeue_after is a timedelta, such as timedelta(seconds=5), not {self.requeue_after!r}"
            )
        if not isinstance(self.requeue, bool):
            raise TypeError(f"requeue is True or False, not {self.requeue!r}; a time goes into requeue_after")
        if not isinstance(self.priority, int | None):
            raise TypeError(f"priority is a whole number, not {self.priority!r}")

    def __bool__(self) -> bool:
        return self.requeue or self.requeue_after is not None

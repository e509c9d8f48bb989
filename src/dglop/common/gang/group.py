# SPDX-License-Identifier: Apache-2.0
"""A group of replica types that are scheduled together."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("Group",)


@dataclass(frozen=True, slots=True)
class Group:
    """
    Which replica types run at the same time, and so need their resources at once.

    Attributes
    ----------
        roles: the types whose pods are in the group; one that a job lacks is left out.
        late: those of them that are made only when the others run. Their pods are in the group but are not
            waited for, since the group would never be complete.
        suffix: what is put after the job's name; "" for the group that is named as the job.
    """

    roles: tuple[str, ...]
    late: tuple[str, ...] = ()
    suffix: str = ""

    def name(self, job: str) -> str:
        """The name of its PodGroup."""
        return f"{job}-{self.suffix}" if self.suffix else job

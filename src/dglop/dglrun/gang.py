# SPDX-License-Identifier: Apache-2.0
"""Who takes part in an attempt: every pod has a seat, of which the first is the hub's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

__all__ = ("Gang",)


@dataclass(frozen=True)
class Gang:
    """The roles of an attempt and how many pods each has, in the order of their seats."""

    roles: Tuple[Tuple[str, int], ...]

    @property
    def size(self) -> int:
        return sum(count for _, count in self.roles)

    @property
    def hub(self) -> str:
        """What the pod is called at which all meet."""
        return self.name(0)

    def seat(self, role: str, index: int) -> int:
        """Raises ValueError where no pod of that role has that index."""
        before = 0
        for each, count in self.roles:
            if each == role and index < count:
                return before + index
            before += count
        raise ValueError("there is no %s-%d: the job has %s" % (role, index, self))

    def name(self, seat: int) -> str:
        """`trainer-0`; of a seat that nobody has, the number alone."""
        for role, count in self.roles:
            if 0 <= seat < count:
                return "%s-%d" % (role, seat)
            seat -= count
        return "seat %d" % seat

    def __str__(self) -> str:
        return ", ".join("%d %s%s" % (count, role, "" if count == 1 else "s") for role, count in self.roles)

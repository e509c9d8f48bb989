# SPDX-License-Identifier: Apache-2.0
"""How far a build of several programs has come, and how long it still takes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hack.cluster.binaries import Tool

__all__ = ("Progress", "Whole")

_TELLING = 0.02  # of all: before that the pace says nothing


@dataclass(slots=True)
class Whole:
    """All that is to be built, in the minutes that its programs are known to take."""

    minutes: float
    done: float = 0.0
    clock: Callable[[], float] = time.monotonic
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def words(self, minutes: float) -> str:
        """The share that is done with these minutes of the present program, and at this pace the rest."""
        share = min((self.done + minutes) / self.minutes, 1.0)
        said = f"all {share:.0%}"
        if share < _TELLING:
            return said
        left = (self.clock() - self.began) * (1 - share) / share
        return f"{said}, {max(1, round(left / 60))} min left"


class Progress:
    """Counts the packages that the compiler names; those it has from an earlier run it does not name."""

    def __init__(self, tool: Tool, total: int, note: Callable[[str], None], whole: Whole) -> None:
        self._tool = tool
        self._total = max(total, 1)
        self._note = note
        self._whole = whole
        self._seen = 0

    def line(self, row: str) -> None:
        if row and " " not in row:
            self._seen = min(self._seen + 1, self._total)
            so_far = self._whole.words(self._tool.minutes * self._seen / self._total)
            self._note(f"{self._tool.name} {self._seen}/{self._total} packages · {so_far}")

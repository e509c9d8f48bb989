# SPDX-License-Identifier: Apache-2.0
"""What a soak has come to: figures, and what did not hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hack.soak.levels import Levels

__all__ = ("Report",)


@dataclass(slots=True)
class Report:
    """The figures of a soak by name, the levels at its checkpoints, and its failures as sentences."""

    seconds: float = 0.0
    figures: dict[str, int] = field(default_factory=dict)
    levels: list[Levels] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def unproven(self) -> list[str]:
        """The figures that are zero though the soak is about them: it has shown nothing of these."""
        return [f"the soak saw no {name}" for name, count in self.figures.items() if not count]

    def table(self) -> str:
        """For people, at the end."""
        rows = [(name, f"{count:,}".replace(",", " ")) for name, count in self.figures.items()]
        if self.levels:
            rows += [
                ("in the middle", str(self.levels[(len(self.levels) - 1) // 2])),
                ("at the end", str(self.levels[-1])),
            ]
        width = max(len(name) for name, _ in rows)
        lines = [f"soak of {self.seconds:.0f} s", *(f"  {name:<{width}}  {value}" for name, value in rows)]
        verdict = [f"{len(self.failures)} failures:", *(f"  {each}" for each in self.failures)]
        return "\n".join(lines + (verdict if self.failures else ["nothing lost, nothing doubled, all level"]))

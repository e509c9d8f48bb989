# SPDX-License-Identifier: Apache-2.0
"""What a measured program says that it has reached."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("Mark", "parse_mark")

_KNOWN = ("mark", "at", "cpu", "peak")


@dataclass(frozen=True, slots=True)
class Mark:
    """
    One thing reached.

    Attributes
    ----------
        at: when, in seconds of the machine's monotonic clock.
        cpu: CPU seconds of the program until then.
        peak: the most memory that it had until then, in bytes.
        figures: what else it measured itself.
    """

    what: str
    at: float
    cpu: float
    peak: float
    figures: Mapping[str, float] = field(default_factory=dict)


def parse_mark(line: str) -> Mark | None:
    """The mark that a line of output is; None for any other line."""
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    if not isinstance(found, dict) or not set(_KNOWN) <= set(found):
        return None
    figures = {str(key): float(value) for key, value in found.items() if key not in _KNOWN}
    return Mark(str(found["mark"]), float(found["at"]), float(found["cpu"]), float(found["peak"]), figures)

# SPDX-License-Identifier: Apache-2.0
"""Resource quantities: `500m`, `1.5Gi`, `1e3`."""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ("parse_quantity",)

_SHAPE = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?P<suffix>[eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]?)",
)
_POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


def parse_quantity(value: str | float) -> Decimal:
    """The number that a quantity says, in its base unit (bytes, cores).

    Raises ValueError, with the text, for what is no quantity.
    """
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is no resource quantity")  # noqa: TRY004 - one error for all nonsense
    text = str(value).strip()
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no resource quantity; write it as 500m, 2 or 1.5Gi")
    number, suffix = Decimal(found["number"]), found["suffix"]
    if suffix in _BINARY:
        return number * Decimal(1024) ** _BINARY[suffix]
    power = int(suffix[1:]) if suffix[:1] in ("e", "E") and len(suffix) > 1 else _POWERS[suffix]
    return number.scaleb(power)

# SPDX-License-Identifier: Apache-2.0
"""Resource quantities: `500m`, `1.5Gi`, `1e3`."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Final

__all__ = ("parse_quantity",)

_SHAPE: Final = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?P<suffix>[eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]?)",
    re.ASCII,
)
_LONGEST: Final = 64
_MOST: Final = 2**63 - 1
_FINEST: Final = -9
_FARTHEST: Final = 99  # a power of ten beyond any that _LONGEST digits can make up for
_EXACT: Final = Context(prec=2 * _LONGEST)
_POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


def parse_quantity(value: str | float) -> Decimal:
    """The number that a quantity says, in its base unit (bytes, cores).

    Raises ValueError, with the text, for what is no quantity or none that Kubernetes can hold: beyond
    2**63 - 1, or with more than nine digits after the point. It takes no longer for one than for another.
    """
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is no resource quantity")  # noqa: TRY004 - one error for all nonsense
    if isinstance(value, int) and abs(value) > _MOST:
        raise ValueError(f"a number beyond {_MOST} is no resource quantity")
    text = str(value).strip()
    if len(text) > _LONGEST:
        raise ValueError(f"'{text[:_LONGEST]}…' is no resource quantity: it has {len(text)} characters")
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no resource quantity; write it as 500m, 2 or 1.5Gi")
    amount = _amount(Decimal(found["number"]), found["suffix"])
    if amount is None:
        raise ValueError(
            f"{text!r} is no resource quantity that Kubernetes can hold: at most {_MOST}, and at most "
            f"{-_FINEST} digits after the point"
        )
    return amount


def _amount(number: Decimal, suffix: str) -> Decimal | None:
    """The exact product, or None where it is too large or too fine."""
    if suffix in _BINARY:
        amount = _EXACT.multiply(number, Decimal(1024 ** _BINARY[suffix]))
    else:
        power = int(suffix[1:]) if suffix[:1] in ("e", "E") and len(suffix) > 1 else _POWERS[suffix]
        if abs(power) > _FARTHEST:
            return number if number.is_zero() else None
        amount = _EXACT.scaleb(number, power)
    exponent = amount.normalize(_EXACT).as_tuple().exponent
    too_fine = not isinstance(exponent, int) or exponent < _FINEST
    return None if too_fine or abs(amount) > _MOST else amount

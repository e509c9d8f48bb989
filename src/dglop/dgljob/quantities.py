# SPDX-License-Identifier: Apache-2.0
"""Half of a quantity of memory, written back in the unit it came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.runtime.api import parse_quantity

if TYPE_CHECKING:
    from decimal import Decimal

__all__ = ("canonical", "half")

_BINARY = tuple((f"{letter}i", 1024**power) for power, letter in enumerate("KMGTPE", start=1))
_DECIMAL = tuple((letter, 1000**power) for power, letter in enumerate("kMGTPE", start=1))


def half(quantity: str) -> str:
    """Half of `quantity` as a canonical quantity, in whole bytes: 20Gi gives 10Gi, 3Gi gives 1536Mi.

    Raises ValueError where `quantity` is none.
    """
    decimal = quantity.strip()[-1:] in tuple("kMGTPE")
    return canonical(parse_quantity(quantity) / 2, decimal=decimal)


def canonical(amount: Decimal, *, decimal: bool = False) -> str:
    """`amount` bytes, rounded down, with the largest suffix that divides it."""
    whole = int(amount)
    best = ""
    for suffix, size in _DECIMAL if decimal else _BINARY:
        if whole and whole % size == 0:
            best = f"{whole // size}{suffix}"
    return best or str(whole)

# SPDX-License-Identifier: Apache-2.0
"""What pods ask for, as the scheduler reckons it, and what the first so many of a group ask for together."""

from __future__ import annotations

from collections import defaultdict
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any

from dglop.errors import SchemaError
from dglop.runtime.api import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ("amounts_text", "least_resources", "pod_requests")

Amounts = dict[str, Decimal]


def pod_requests(spec: Mapping[str, Any]) -> Amounts:
    """
    What one pod with this spec asks for.

    It is the larger of what its containers need together and what the largest init container needs, with
    the sidecars that run beside either, and the overhead. A resource that has a limit only is asked for as
    far as that. Raises SchemaError for what is no quantity.
    """
    sidecars: Amounts = defaultdict(Decimal)
    most: Amounts = {}
    for each in spec.get("initContainers") or ():
        if each.get("restartPolicy") == "Always":
            _add(sidecars, _asks(each))
            _raise_to(most, sidecars)
        else:
            _raise_to(most, _sum([sidecars, _asks(each)]))
    _raise_to(most, _sum([sidecars, *(_asks(each) for each in spec.get("containers") or ())]))
    return _sum([most, _parsed(spec.get("overhead") or {}, "overhead")])


def least_resources(pods: Sequence[tuple[int, int, Mapping[str, Any]]], least: int) -> dict[str, str]:
    """
    What the first *least* pods ask for together, those of the highest priority first.

    *pods* are the priority, the number and the spec of equal pods.
    """
    total: Amounts = defaultdict(Decimal)
    left = least
    for _, count, spec in sorted(pods, key=lambda each: -each[0]):
        taken = min(count, left)
        left -= taken
        for name, amount in (pod_requests(spec) if taken else {}).items():
            total[name] += amount * taken
    return amounts_text(total)


def amounts_text(amounts: Mapping[str, Decimal]) -> dict[str, str]:
    """Amounts as quantities, by name: whole ones plain, others in thousandths, rounded up."""
    return {name: _text(amounts[name]) for name in sorted(amounts) if amounts[name]}


def _text(amount: Decimal) -> str:
    if amount == amount.to_integral_value():
        return str(int(amount))
    return f"{int((amount * 1000).to_integral_value(ROUND_CEILING))}m"


def _asks(container: Mapping[str, Any]) -> Amounts:
    resources = container.get("resources") or {}
    name = str(container.get("name", ""))
    limits = _parsed(resources.get("limits") or {}, name)
    return {**limits, **_parsed(resources.get("requests") or {}, name)}


def _parsed(quantities: Mapping[str, Any], where: str) -> Amounts:
    try:
        return {str(name): parse_quantity(value) for name, value in quantities.items()}
    except (ValueError, TypeError, AttributeError) as problem:
        raise SchemaError(f"{where}: {problem}") from problem


def _sum(every: Iterable[Amounts]) -> Amounts:
    total: Amounts = defaultdict(Decimal)
    for each in every:
        _add(total, each)
    return dict(total)


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] += amount


def _raise_to(most: Amounts, other: Amounts) -> None:
    for name, amount in other.items():
        most[name] = max(most.get(name, amount), amount)

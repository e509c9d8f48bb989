# SPDX-License-Identifier: Apache-2.0
"""What a program tells of itself at /metrics, as far as the bench counts it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("WRITES", "counted", "refusals", "requests_by_verb", "series")

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})

_REFUSED = 400
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def series(metrics: str, name: str) -> Iterator[tuple[dict[str, str], float]]:
    """The labels and the value of each series of this name in a text of metrics."""
    for labels, value in re.findall(rf"^{name}(?:\{{(.*)\}})? (\S+)$", metrics, re.MULTILINE):
        yield dict(_LABEL.findall(labels)), float(value)


def counted(metrics: str, name: str, /, **labels: str) -> int:
    """The sum of the series of this name that have these labels."""
    found = (value for told, value in series(metrics, name) if labels.items() <= told.items())
    return int(sum(found))


def requests_by_verb(metrics: str, *, below: int | None = None) -> Counter[str]:
    """The requests that a program has sent to the API server, by its own count, whatever was answered.

    With *below* only those that were answered by a code below it. Both client-go and dglop count so, and a
    watch is a GET.
    """
    found: Counter[str] = Counter()
    for labels, value in series(metrics, "rest_client_requests_total"):
        code = labels["code"]
        if below is None or (code.isdecimal() and int(code) < below):
            found[labels["method"]] += int(value)
    return found


def refusals(metrics: str) -> Counter[str]:
    """The requests that were not done, by verb and answer: `PATCH 409`, or `GET <error>` without any."""
    found: Counter[str] = Counter()
    for labels, value in series(metrics, "rest_client_requests_total"):
        code = labels["code"]
        if not (code.isdecimal() and int(code) < _REFUSED):
            found[f"{labels['method']} {code}"] += int(value)
    return found

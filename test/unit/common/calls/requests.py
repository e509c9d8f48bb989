# SPDX-License-Identifier: Apache-2.0
"""The requests of a job's life by verb and resource, as docs/requests.md shows them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ("by_resource",)

_VERBS = {"POST": "create", "PATCH": "patch", "DELETE": "delete", "GET": "get"}


def by_resource(sent: Iterable[str]) -> Counter[str]:
    """How often each of `create pods`, `patch testjobs/status`, … was sent; the job's kind is `jobs`."""
    found: Counter[str] = Counter()
    for each in sent:
        method, path = each.split()
        parts = path.split("/namespaces/", 1)[1].split("/")[1:]
        resource = "jobs" if parts[0] in ("testjobs", "dgljobs") else parts[0]
        found[f"{_VERBS[method]} {'/'.join([resource, *parts[2:]])}"] += 1
    return found

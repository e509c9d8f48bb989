# SPDX-License-Identifier: Apache-2.0
"""What a load cost the cluster: requests that its API server answered, CPU of each of its parts."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hack.bench.figures import seconds
from hack.bench.samples import WRITES, series
from hack.bench.section import Section
from hack.cluster.paths import paths_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.runtime.client import Client

__all__ = ("Cost", "cost_section", "parse_requests", "take_cost")

_LITTLE = 0.5  # CPU seconds
_FEW = 20  # rows with fewer requests on every side say nothing about a load


@dataclass(frozen=True, slots=True)
class Cost:
    """Requests by what was asked, and CPU seconds by part; since the parts' start, or of a while."""

    requests: Counter[str]
    cpu: Mapping[str, float]

    def since(self, before: Cost) -> Cost:
        spent = {part: used - before.cpu.get(part, 0.0) for part, used in self.cpu.items()}
        return Cost(self.requests - before.requests, spent)


def parse_requests(metrics: str) -> Counter[str]:
    """The writes that an API server has answered, as `PATCH pods/status`, whatever it answered."""
    found: Counter[str] = Counter()
    for told, count in series(metrics, "apiserver_request_total"):
        if told["verb"] in WRITES:
            place = "/".join(filter(None, (told["resource"], told["subresource"])))
            found[f"{told['verb']} {place}"] += int(count)
    return found


async def take_cost(client: Client) -> Cost:
    """The cost up to now; CPU only where the cluster's parts are processes of this machine."""
    metrics = (await client.raw("GET", "/metrics", timeout=60)).decode()
    return Cost(parse_requests(metrics), _cpu(paths_from().pids))


def _cpu(pids: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for path in pids.glob("*.json"):
        try:
            stat = Path(f"/proc/{json.loads(path.read_text())['pid']}/stat").read_text()
        except FileNotFoundError:
            continue  # ended: its file is swept up by the next start
        user, system = stat.rpartition(")")[2].split()[11:13]
        found[path.stem] = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return found


def cost_section(costs: Mapping[str, Cost]) -> Section:
    """One column a side: CPU seconds of the parts, then requests, the most frequent first."""
    parts = sorted({part for cost in costs.values() for part in cost.cpu})
    most: Counter[str] = Counter()
    for cost in costs.values():
        most |= cost.requests
    rows = [
        (f"CPU of {part}", *(seconds(cost.cpu.get(part, 0.0)) for cost in costs.values()))
        for part in parts
        if any(cost.cpu.get(part, 0.0) >= _LITTLE for cost in costs.values())
    ]
    rows += [
        (request, *(str(cost.requests[request]) for cost in costs.values()))
        for request, count in most.most_common()
        if count >= _FEW
    ]
    total = ("all writes", *(str(sum(cost.requests.values())) for cost in costs.values()))
    notes = ("of each side's last run; those of the cluster's own controllers are in it",)
    return Section("What it cost the cluster", ("", *costs), [*rows, total], notes)

# SPDX-License-Identifier: Apache-2.0
"""What the jobs bench prints of one size: figures, requests of the operators, goals, the cluster's cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hack.bench.cost import Cost, cost_section
from hack.bench.figures import Usage, megabytes, middle, ratio, seconds
from hack.bench.load import AT_ONCE, Timing
from hack.bench.peer import LIFTED_THREADS, PEER_NOTES
from hack.bench.section import Section
from hack.bench.workload import PODS_EACH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ("Sample", "sections")

_NONE = "–"  # noqa: RUF001 - a dash of the right length
_OURS = {"ours": "plain", "torch": "plain-torch"}
"""Our sides, each with the one that creates the same pods by no operator."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one side; the operator's own CPU, memory and requests where there is one."""

    timing: Timing
    cost: Cost
    cpu_seconds: float | None = None
    usage: Usage | None = None
    asked: Counter[str] = field(default_factory=Counter)


def sections(samples: Mapping[str, list[Sample]], jobs: int, repeat: int) -> list[Section]:
    """The tables of medians of one size; that of the goals only where there is something to compare."""
    found = [_figures(samples, jobs, repeat), _requests(samples, jobs)]
    goals = _goals(samples, jobs)
    if goals.rows:
        found.append(goals)
    return [*found, cost_section({side: runs[-1].cost for side, runs in samples.items()})]


def _titles(pods: int) -> dict[str, str]:
    return {
        "ours": "dglop, DGLJob",
        "torch": "dglop, PyTorchJob",
        "peer": "training-operator, PyTorchJob, its own defaults",
        "lifted": f"training-operator, PyTorchJob, lifted: no client limits, {LIFTED_THREADS} threads",
        "plain": f"no operator: the {pods} pods of those DGLJobs, created by our client, {AT_ONCE} at a time",
        "plain-torch": f"no operator: the {pods} pods of our PyTorchJobs, likewise",
        "bare": f"no operator: {pods} pods of one container and no volume, likewise",
    }


def _figures(samples: Mapping[str, list[Sample]], jobs: int, repeat: int) -> Section:
    titles = _titles(jobs * PODS_EACH)
    notes = [
        f"medians of {repeat}; times are from the first request; Succeeded as a watch sees it of every job",
        "each operator is a host process under its own service account and RBAC, warmed by one job",
        "CPU and RSS are the operator's alone; the machine's CPU is that of all who share its cores",
    ]
    header = (
        f"{jobs} jobs × {PODS_EACH} pods, each pod succeeds 1 s after it runs",  # noqa: RUF001
        "all pods created",
        "all Succeeded",
        "all submitted",
        "p50 from a job to its pods",
        "CPU, whole machine",
        "CPU",
        "RSS (peak)",
    )
    rows = [(titles[side], *_row(samples[side])) for side in titles if side in samples]
    notes += PEER_NOTES if {"peer", "lifted"} & samples.keys() else ()
    return Section(f"{jobs} jobs at once", header, rows, tuple(notes))


def _row(found: list[Sample]) -> tuple[str, ...]:
    timings = [each.timing for each in found]
    cpu = [each.cpu_seconds for each in found if each.cpu_seconds is not None]
    usage = [each.usage for each in found if each.usage is not None]
    return (
        seconds(middle(each.pods_all for each in timings)),
        _spread([each.wall for each in timings]),
        seconds(middle(each.submitted for each in timings)),
        seconds(middle(each.pods_p50 for each in timings)),
        seconds(middle(each.busy for each in timings)),
        seconds(middle(cpu)) if cpu else _NONE,
        f"{megabytes(middle(u.rss for u in usage))} ({megabytes(middle(u.peak_rss for u in usage))})"
        if usage
        else _NONE,
    )


def _spread(values: list[float]) -> str:
    """The median, and the least and most where there are several."""
    if len(values) == 1:
        return seconds(values[0])
    return f"{seconds(middle(values))} ({seconds(min(values))} to {seconds(max(values))})"


def _requests(samples: Mapping[str, list[Sample]], jobs: int) -> Section:
    titles = _titles(jobs * PODS_EACH)
    asked = {side: samples[side][-1].asked for side in titles if side in samples and samples[side][-1].asked}
    verbs = sorted(set().union(*asked.values()))
    rows = [
        (titles[side], *(str(count[verb]) for verb in verbs), f"{_writes(count) / jobs:.1f}")
        for side, count in asked.items()
    ]
    notes = (
        "of each side's last run, as the operator counts what it sends (rest_client_requests_total)",
        "watches are GETs",
    )
    return Section(f"API requests of the operator, {jobs} jobs", ("", *verbs, "writes a job"), rows, notes)


def _writes(count: Counter[str]) -> int:
    return count.total() - count["GET"]


@dataclass(frozen=True, slots=True)
class _Goal:
    """At most so many times what a peer has of something."""

    what: str
    of: Callable[[Sample], float | None]
    beside: str
    target: str


def _peak(sample: Sample) -> float | None:
    return float(sample.usage.peak_rss) if sample.usage else None


_GOALS = (
    _Goal("time / training-operator with its defaults", lambda s: s.timing.wall, "peer", "at most 0.20"),
    _Goal("time / training-operator lifted", lambda s: s.timing.wall, "lifted", "at most 1.00"),
    _Goal("CPU / training-operator with its defaults", lambda s: s.cpu_seconds, "peer", "at most 1.00"),
    _Goal("CPU / training-operator lifted", lambda s: s.cpu_seconds, "lifted", "at most 1.00"),
    _Goal("peak memory / training-operator with its defaults", _peak, "peer", "at most 1.50"),
    _Goal("peak memory / training-operator lifted", _peak, "lifted", "at most 1.50"),
    _Goal("time / plain creation of the same pods", lambda s: s.timing.wall, "", "at most 2.00"),
)


def _goals(samples: Mapping[str, list[Sample]], jobs: int) -> Section:
    """Each goal for each of our sides, as the ratio of the medians."""
    ours = [side for side in _OURS if side in samples]
    titles = _titles(jobs * PODS_EACH)
    rows = []
    for goal in _GOALS:
        shares = [_share(samples, goal, side) for side in ours]
        if any(share != _NONE for share in shares):
            rows.append((goal.what, *shares, goal.target))
    return Section(f"Goals, {jobs} jobs", ("", *(titles[side] for side in ours), "goal"), rows)


def _share(samples: Mapping[str, list[Sample]], goal: _Goal, side: str) -> str:
    ours, theirs = (_all(samples.get(each, ()), goal) for each in (side, goal.beside or _OURS[side]))
    return ratio(middle(ours), middle(theirs)) if ours and theirs else _NONE


def _all(found: Iterable[Sample], goal: _Goal) -> list[float]:
    return [value for each in found if (value := goal.of(each)) is not None]

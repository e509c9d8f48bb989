# SPDX-License-Identifier: Apache-2.0
"""The runtime's tables, from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hack.bench.figures import megabytes, middle, seconds
from hack.bench.runtime.measure import FINISHED, LIMIT_SECONDS, NOOP_ROUNDS, Run
from hack.bench.section import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hack.bench.runtime.sides import SideSpec

    Runs = Mapping[SideSpec, Sequence[Run] | None]
    Column = Callable[[Sequence[Run]], str]

__all__ = ("section_of",)

_OVER = f"> {LIMIT_SECONDS:.0f} s"
_NONE = "–"  # noqa: RUF001 - as in the other tables
_REFERENCE = "controller-runtime"


def _median(runs: Sequence[Run], value: Callable[[Run], float]) -> float:
    return middle(value(run) for run in runs)


def _wall(run: Run) -> float:
    return run.wall


def _cpu(run: Run) -> float:
    return run.cpu


def _peak(run: Run) -> float:
    return run.peak


def _figure(name: str) -> Callable[[Run], float]:
    return lambda run: run.figures[name]


def _in(value: Callable[[Run], float], shown: Callable[[float], str]) -> Column:
    return lambda runs: shown(_median(runs, value))


def _against(value: Callable[[Run], float], reference: Sequence[Run] | None) -> Column:
    """How many times the reference's."""
    if not reference:
        return lambda _runs: _NONE
    return lambda runs: f"{_median(runs, value) / _median(reference, value):.2f}"


def _milliseconds(value: float) -> str:
    return f"{1000 * value:.0f} ms"


def _whole(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def _per(count: int, value: Callable[[Run], float]) -> Column:
    return lambda runs: _whole(middle(count / max(value(run), 1e-9) for run in runs))


def _columns(work: str, pods: int, reference: Sequence[Run] | None) -> dict[str, Column]:
    times, cpu, memory = (
        _against(_wall, reference),
        {"CPU": _in(_cpu, seconds)},
        {"peak memory": _in(_peak, megabytes)},
    )
    match work:
        case "sync":
            return {
                "to synced": _in(_wall, seconds),
                "of controller-runtime's": times,
                "from exec": _in(_figure("exec"), seconds),
                **cpu,
                **memory,
                "of its memory": _against(_peak, reference),
            }
        case "events":
            return {
                "events/s": _per(pods, _wall),
                "to absorb all": _in(_wall, seconds),
                **cpu,
                "events per CPU second": _per(pods, _cpu),
            }
        case "noop":
            count = FINISHED * NOOP_ROUNDS
            return {"reconciles/s": _per(count, _wall), **cpu, "per CPU second": _per(count, _cpu)}
        case "relist":
            return {
                "late, p99": _in(_figure("late_p99"), _milliseconds),
                "late, most": _in(_figure("late_max"), _milliseconds),
                "own work at a stretch, p99": _in(_figure("busy_p99"), _milliseconds),
                "most": _in(_figure("busy_max"), _milliseconds),
                "ticks": _in(_figure("ticks"), _whole),
                **cpu,
            }
        case _:
            return {"until served": _in(_wall, seconds), "of controller-runtime's": times, **cpu, **memory}


def titles(work: str, pods: int) -> str:
    """What a table is about."""
    return {
        "sync": f"{_whole(pods)} pods to synced",
        "events": f"{_whole(pods)} changes absorbed, with three indexes",
        "noop": f"No-op reconciles of {_whole(FINISHED)} objects, {NOOP_ROUNDS} times, on one core",
        "restart": f"Restart with {_whole(FINISHED)} finished objects until a new one is served",
        "failover": "Failover: from the kill of the leader until the standby serves",
        "relist": f"The event loop while {_whole(pods)} pods are read anew",
    }[work]


def section_of(work: str, pods: int, found: Runs, notes: tuple[str, ...]) -> Section:
    """The table of a work; a side whose runs are None was over the limit."""
    reference = next((runs for side, runs in found.items() if side.name == _REFERENCE), None)
    columns = _columns(work, pods, reference)
    rows = []
    for side, runs in found.items():
        if runs:
            cells = [column(runs) for column in columns.values()]
        else:
            cells = [_OVER if index == 0 else _NONE for index in range(len(columns))]
        rows.append((side.title, *cells))
    return Section(titles(work, pods), ("side", *columns), rows, notes)

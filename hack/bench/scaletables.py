# SPDX-License-Identifier: Apache-2.0
"""What the scale run prints: each write that its jobs cost, why it was made, and what is left unexplained."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hack.bench.explain import COUNTS, DONE, SEEN, UNCHANGED
from hack.bench.section import Section

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("PHASES", "Ledger", "quiet_section", "writes_section")

PHASES = ("Pending", "Dispatching", "Training", "Completed")
"""What a job on parts that are there goes through: each phase is one write, so that a watch sees it."""
_REASONS = {
    "DGLJobCreated": "it is taken up",
    "DGLJobRunning": "all its pods are ready",
    "DGLJobSucceeded": "it is over",
}
_CREATED = {
    "secrets": "the job's tokens, before the first pod",
    "services": "headless: by it the pods find each other",
}


@dataclass(frozen=True, slots=True)
class Ledger:
    """
    What a load of `jobs` jobs of `pods` pods wrote.

    `created` are the objects of each resource that its namespace has, `events` those of the operator by
    reason, `repeated` how often an event was told again, `status` the writes of statuses by reason and
    `most` the most that one job had of each. `sent` is what the operator counts itself, by verb, of what the
    API server did; `refused` what it did not, by verb and answer.
    """

    jobs: int
    pods: int
    created: Mapping[str, int]
    events: Counter[str]
    repeated: int
    status: Counter[str]
    most: Counter[str]
    sent: Counter[str]
    refused: Counter[str] = field(default_factory=Counter)
    missed: int = 0

    def explained(self) -> Counter[str]:
        """The writes that have an explanation, by verb."""
        posts = sum(self.created.values()) + self.events.total()
        patches = self.repeated + self.status.total() - self.status[UNCHANGED]
        return Counter({"POST": posts, "PATCH": patches})

    def unexplained(self) -> dict[str, int]:
        """By verb, what the operator wrote beyond that; less than 0 where it counts less than was seen."""
        explained = self.explained()
        verbs = (self.sent.keys() | explained.keys()) - {"GET"}
        return {verb: self.sent[verb] - explained[verb] for verb in sorted(verbs)}


def writes_section(found: Ledger) -> Section:
    """One row a kind of write, with what is expected of it by the plan, then the sums."""
    rows = [*_created(found), *_events(found), *_statuses(found)]
    for verb, rest in found.unexplained().items():
        count = found.sent[verb]
        rows.append((f"**all {verb}**", *_each(count, found.jobs), "", f"{rest} without an explanation"))
    notes = (
        "rows are objects that are there, and states of the jobs that a watch saw, which sees every write",
        "the sums are the operator's own count, rest_client_requests_total: what no row explains is told",
        f"{_listed(found.refused)}; the watch began anew {found.missed} times",
    )
    header = ("write", "a job", "in all", "expected", "why")
    title = f"API writes of {found.jobs} jobs × {found.pods} pods"  # noqa: RUF001
    return Section(title, header, rows, notes)


def _listed(refused: Counter[str]) -> str:
    each = "".join(f", {count} of them {what}" for what, count in sorted(refused.items()))
    return f"{refused.total()} requests were refused{each}"


Row = tuple[str, str, str, str, str]


def _each(count: int, jobs: int) -> tuple[str, str]:
    each = count / jobs
    return f"{each:.0f}" if each == int(each) else f"{each:.2f}", str(count)


def _exactly(what: str, count: int, wanted: int, jobs: int, reason: str) -> Row:
    """A row of what every job has as often."""
    expected = str(wanted) if count == wanted * jobs else f"**{wanted}**: {count - wanted * jobs:+d} in all"
    return what, *_each(count, jobs), expected, reason


def _created(found: Ledger) -> list[Row]:
    pods = _exactly("create pods", found.created["pods"], found.pods, found.jobs, "one a replica")
    rest = [
        _exactly(f"create {each}", found.created[each], 1, found.jobs, reason)
        for each, reason in _CREATED.items()
    ]
    return [*rest, pods]


def _events(found: Ledger) -> list[Row]:
    rows = []
    for reason in sorted(_REASONS.keys() | found.events.keys()):
        told = f"once, when {_REASONS[reason]}" if reason in _REASONS else ""
        wanted = 1 if told else 0
        rows.append(_exactly(f"create events, {reason}", found.events[reason], wanted, found.jobs, told))
    if found.repeated:
        rows.append(("patch events", *_each(found.repeated, found.jobs), "0", "an event that was told again"))
    return rows


def _statuses(found: Ledger) -> list[Row]:
    rows = [
        _exactly(
            f"patch status: phase {each}", found.status[f"phase {each}"], 1, found.jobs, "seen by a watch"
        )
        for each in PHASES
    ]
    steps = {f"phase {each}" for each in PHASES}
    for reason in sorted(found.status.keys() - steps - {UNCHANGED}):
        count, most = found.status[reason], found.most[reason]
        rows.append(
            (
                f"patch status: {reason}",
                *_each(count, found.jobs),
                _bound(reason),
                f"at most {most} a job",
            )
        )
    return [
        *rows,
        _exactly("patch status: nothing is new", found.status[UNCHANGED], 0, found.jobs, "must not be"),
    ]


def _bound(reason: str) -> str:
    is_paced = reason.startswith(("words of ", COUNTS, SEEN, DONE))
    return "one a second of a job" if is_paced else ""


def quiet_section(jobs: int, looks: Mapping[str, tuple[int, Counter[str]]]) -> Section:
    """Where nothing changes: how many reconciles there were, and what they wrote."""
    rows = [
        (what, str(reconciles), str(sent.total() - sent["GET"]), "0")
        for what, (reconciles, sent) in looks.items()
    ]
    notes = (
        "leader election is off in this run: a lease is renewed whatever happens",
        "a request that was refused is none: at its start the operator tries to create its key, once more",
    )
    header = (f"{jobs} jobs that are done", "reconciles", "writes of any kind", "expected")
    return Section("Where nothing changes", header, rows, notes)

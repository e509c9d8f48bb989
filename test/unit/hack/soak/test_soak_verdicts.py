# SPDX-License-Identifier: Apache-2.0
"""The soak names the object and its last events when something was lost, doubled or grew."""

from __future__ import annotations

from typing import Any

import pytest

from dglop.runtime.cache.entry import Cached, read_object
from dglop.runtime.client.convert import encoded
from dglop.testing.scripted_cache import pod
from hack.soak.checks import differences, orphans
from hack.soak.ledger import Ledger
from hack.soak.levels import Levels, grown
from hack.soak.report import Report
from test.unit.runtime.cache.informers import POD


def made(name: str, rv: int, uid: str = "u") -> Cached:
    return read_object(encoded(pod(name, rv, uid)), POD)[0]


@pytest.fixture
def ledger() -> Ledger:
    return Ledger("Pod", lambda: 7.0)


def followed(ledger: Ledger) -> None:
    """A life that nothing is wrong with."""
    ledger.on_add(made("a", 1), is_initial=True)
    ledger.on_update(made("a", 1), made("a", 2))
    with ledger.reconciling("a", ("u", 2)):
        pass


def test_a_life_in_order_is_no_fault_and_no_difference(ledger: Ledger) -> None:
    followed(ledger)
    assert ledger.faults == []
    assert differences("Pod", {"a": pod("a", 2, "u")}, {"a": ("u", 2)}, ledger) == []
    ledger.on_delete(made("a", 3), final_state_unknown=False)
    with ledger.reconciling("a", None):
        pass
    assert differences("Pod", {}, {}, ledger) == []


def test_what_does_not_follow_is_told_with_the_events_before_it(ledger: Ledger) -> None:
    followed(ledger)
    ledger.on_add(made("a", 5), is_initial=False)
    ledger.on_update(made("a", 4), made("a", 6))
    ledger.on_update(made("a", 6), made("a", 6, "other"))
    ledger.on_update(made("a", 6, "other"), made("a", 5, "other"))
    ledger.on_delete(made("a", 9), final_state_unknown=True)
    words = ("was added as", "was last heard of as", "became another object", "went back", "was deleted as")
    assert len(ledger.faults) == len(words)
    for fault, said in zip(ledger.faults, words, strict=True):
        assert fault.startswith("Pod a ")
        assert said in fault
        assert "7.0 s initial ('u', 1); 7.0 s updated ('u', 2)" in fault


def test_two_workers_with_one_key_are_a_fault(ledger: Ledger) -> None:
    with ledger.reconciling("a", ("u", 1)), ledger.reconciling("b", ("u", 1)):
        assert ledger.faults == []
        with ledger.reconciling("a", ("u", 2)):
            pass
    assert "Pod a is in the hands of two workers" in ledger.faults[0]


def test_a_reconciliation_that_failed_has_not_reconciled_its_state(ledger: Ledger) -> None:
    ledger.on_add(made("a", 1), is_initial=True)
    with pytest.raises(OSError, match="no"), ledger.reconciling("a", ("u", 1)):
        raise OSError("no")
    (found,) = differences("Pod", {"a": pod("a", 1, "u")}, {"a": ("u", 1)}, ledger)
    assert found.startswith("Pod a: the API server has ('u', 1), reconciled was nothing.")


def test_a_lost_event_is_told_by_each_view_that_lacks_it(ledger: Ledger) -> None:
    followed(ledger)
    found = differences("Pod", {"a": pod("a", 3, "u"), "b": pod("b", 4, "v")}, {"a": ("u", 2)}, ledger)
    assert [each.partition(". ")[0] for each in found if each.startswith("Pod a")] == [
        "Pod a: the API server has ('u', 3), the cache has ('u', 2)",
        "Pod a: the API server has ('u', 3), the handler heard of ('u', 2)",
        "Pod a: the API server has ('u', 3), reconciled was ('u', 2)",
    ]
    assert (
        "Pod b: the API server has ('v', 4), the cache has nothing. Its last events: nothing was" in found[1]
    )


def test_children_must_be_there_say_the_same_and_go_with_their_owner() -> None:
    samples: dict[str, Any] = {
        "a": {"spec": {"value": 3}, "status": {"seen": 3}},
        "b": {"spec": {"value": 4}},
    }
    pages = {"child-a": {"data": {"value": "2"}}, "child-c": {"data": {"value": "1"}}, "other": {}}
    assert orphans(samples, pages) == [
        "ConfigMap child-a: its value is 2 and should be 3",
        "ConfigMap child-b: its value is nothing and should be 4",
        "ConfigMap child-c: its value is 1 and should be nothing",
        "Sample b: its status says None and its spec 4",
    ]


def test_growth_beyond_chance_is_named() -> None:
    level = Levels(files=30, tasks=40, threads=3, mib=100.0)
    assert grown(level, level) == []
    assert grown(level, Levels(files=35, tasks=45, threads=4, mib=120.0)) == []
    assert grown(level, Levels(files=60, tasks=99, threads=9, mib=200.0)) == [
        "file descriptors grew from 30 in the middle to 60 at the end",
        "tasks grew from 40 in the middle to 99 at the end",
        "threads grew from 3 in the middle to 9 at the end",
        "MiB of memory grew from 100 in the middle to 200 at the end",
    ]


def test_a_soak_that_saw_no_trouble_has_shown_nothing() -> None:
    report = Report(figures={"writes": 1200, "token rotations": 0})
    assert report.unproven() == ["the soak saw no token rotations"]
    assert "writes           1 200" in report.table()
    assert report.table().endswith("nothing lost, nothing doubled, all level")

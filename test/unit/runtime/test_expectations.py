# SPDX-License-Identifier: Apache-2.0
"""Expectations balance, expire and never go below zero."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from dglop.runtime.expectations import TTL_SECONDS, Expectations
from dglop.testing.clock import ManualClock
from test.properties import SECONDS, thousand


def make() -> tuple[Expectations[str], ManualClock]:
    clock = ManualClock()
    return Expectations(clock.monotonic), clock


def test_a_key_without_a_record_is_satisfied():
    expectations, _ = make()
    assert expectations.satisfied("job")
    assert expectations.expires_in("job") is None


def test_creations_hold_a_key_back_until_each_was_observed():
    expectations, _ = make()
    expectations.expect("job", creations=["worker-0", "worker-1"])
    expectations.creation_observed("job", "worker-0")
    assert not expectations.satisfied("job")
    expectations.creation_observed("job", "worker-1")
    assert expectations.satisfied("job")


def test_a_failed_creation_is_not_waited_for():
    expectations, _ = make()
    expectations.expect("job", creations=["worker-0"])
    expectations.creation_failed("job", "worker-0")
    assert expectations.satisfied("job")


def test_an_event_seen_twice_counts_once():
    expectations, _ = make()
    expectations.expect("job", deletions=["uid-a", "uid-b"])
    expectations.deletion_observed("job", "uid-a")
    expectations.deletion_observed("job", "uid-a")
    assert expectations.pending("job") == (frozenset(), frozenset({"uid-b"}))


def test_an_event_that_nobody_expected_does_not_lower_what_comes_later():
    expectations, _ = make()
    expectations.creation_observed("job", "worker-0")
    expectations.expect("job", creations=["worker-0"])
    assert not expectations.satisfied("job")


def test_a_record_expires_and_says_when():
    expectations, clock = make()
    expectations.expect("job", creations=["worker-0"])
    clock.move(100)
    assert expectations.expires_in("job") == TTL_SECONDS - 100
    clock.move(TTL_SECONDS - 100)
    assert expectations.satisfied("job")
    assert expectations.expires_in("job") is None


def test_what_an_expired_record_held_is_not_carried_into_a_new_one():
    expectations, clock = make()
    expectations.expect("job", creations=["worker-0"])
    clock.move(TTL_SECONDS)
    expectations.expect("job", creations=["worker-1"])
    assert expectations.pending("job")[0] == frozenset({"worker-1"})


def test_forgetting_an_owner_frees_its_keys_and_their_memory():
    expectations, _ = make()
    expectations.expect("uid-1/worker", creations=["worker-0"])
    expectations.expect("uid-2/worker", creations=["worker-0"])
    expectations.forget_if(lambda key: key.startswith("uid-1/"))
    assert expectations.satisfied("uid-1/worker")
    assert len(expectations) == 1
    expectations.forget("uid-2/worker")
    assert len(expectations) == 0


class Balance(RuleBasedStateMachine):
    """What was expected minus what was observed, and is not too old, is what holds a key back."""

    names = st.sampled_from(["w0", "w1", "w2"])
    keys = st.sampled_from(["uid-1/a", "uid-1/b", "uid-2/a"])

    def __init__(self):
        super().__init__()
        self.expectations, self.clock = make()
        self.model: dict[str, set[tuple[str, str]]] = {}
        self.since: dict[str, float] = {}

    def is_fresh(self, key) -> bool:
        return self.clock.monotonic() - self.since[key] < TTL_SECONDS

    def lower(self, key, what, name):
        if key in self.model:
            self.model[key].discard((what, name))
            if not self.model[key]:
                del self.model[key]

    @rule(key=keys, created=st.sets(names), deleted=st.sets(names))
    def expect(self, key, created, deleted):
        self.expectations.expect(key, creations=created, deletions=deleted)
        old = self.model.pop(key, set()) if self.since.get(key) is None or self.is_fresh(key) else set()
        new = old | {("c", name) for name in created} | {("d", name) for name in deleted}
        if new:
            self.model[key], self.since[key] = new, self.clock.monotonic()

    @rule(key=keys, name=names, failed=st.booleans())
    def create(self, key, name, failed):
        end = self.expectations.creation_failed if failed else self.expectations.creation_observed
        end(key, name)
        self.lower(key, "c", name)

    @rule(key=keys, name=names, failed=st.booleans())
    def delete(self, key, name, failed):
        end = self.expectations.deletion_failed if failed else self.expectations.deletion_observed
        end(key, name)
        self.lower(key, "d", name)

    @rule(key=keys)
    def forget(self, key):
        self.expectations.forget(key)
        self.model.pop(key, None)

    @rule(uid=st.sampled_from(["uid-1/", "uid-2/"]))
    def forget_owner(self, uid):
        self.expectations.forget_if(lambda key: key.startswith(uid))
        self.model = {key: tokens for key, tokens in self.model.items() if not key.startswith(uid)}

    @rule(seconds=st.sampled_from([1.0, 100.0, TTL_SECONDS]))
    def pass_time(self, seconds):
        self.clock.move(seconds)

    @invariant()
    def agrees(self):
        for key in ("uid-1/a", "uid-1/b", "uid-2/a"):
            holds = key in self.model and self.is_fresh(key)
            assert self.expectations.satisfied(key) is not holds
            left = self.since[key] + TTL_SECONDS - self.clock.monotonic() if holds else None
            assert self.expectations.expires_in(key) == left
            created, deleted = self.expectations.pending(key)
            tokens = {("c", n) for n in created} | {("d", n) for n in deleted}
            assert tokens == self.model.get(key, set())
        assert len(self.expectations) == len(self.model)


TestBalance = pytest.mark.timeout(SECONDS)(Balance.TestCase)
TestBalance.settings = thousand(steps=15)

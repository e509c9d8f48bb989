# SPDX-License-Identifier: Apache-2.0
"""Expectations balance, expire and never go below zero."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from dglop.runtime.expectations import TTL_SECONDS, Expectations
from dglop.testing.clock import ManualClock


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
    """What was expected minus what was observed is what holds a key back."""

    names = st.sampled_from(["w0", "w1", "w2"])
    keys = st.sampled_from(["a", "b"])

    def __init__(self):
        super().__init__()
        self.expectations, self.clock = make()
        self.model: dict[str, set[tuple[str, str]]] = {"a": set(), "b": set()}

    @rule(key=keys, created=st.sets(names), deleted=st.sets(names))
    def expect(self, key, created, deleted):
        self.expectations.expect(key, creations=created, deletions=deleted)
        self.model[key] |= {("c", name) for name in created} | {("d", name) for name in deleted}

    @rule(key=keys, name=names)
    def observe_creation(self, key, name):
        self.expectations.creation_observed(key, name)
        self.model[key].discard(("c", name))

    @rule(key=keys, name=names)
    def observe_deletion(self, key, name):
        self.expectations.deletion_observed(key, name)
        self.model[key].discard(("d", name))

    @rule(key=keys)
    def forget(self, key):
        self.expectations.forget(key)
        self.model[key].clear()

    @invariant()
    def agrees(self):
        for key, tokens in self.model.items():
            assert self.expectations.satisfied(key) is not bool(tokens)
            created, deleted = self.expectations.pending(key)
            assert {("c", n) for n in created} | {("d", n) for n in deleted} == tokens
        assert len(self.expectations) == sum(1 for tokens in self.model.values() if tokens)


TestBalance = Balance.TestCase
TestBalance.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)

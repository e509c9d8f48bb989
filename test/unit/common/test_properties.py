# SPDX-License-Identifier: Apache-2.0
"""What holds for every history of a job: random kubelets, people and lagging caches."""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from dglop.common import ReplicaSpec, RestartPolicy, RunPolicy
from dglop.common.conditions import is_finished
from dglop.common.observed import Observed
from dglop.common.plan import plan
from dglop.common.views import PodView
from dglop.common.watching import unsettled_roles
from dglop.runtime.expectations import Expectations
from dglop.testing.builders import T0, pod_template
from dglop.testing.simulation import Simulation
from dglop.testing.toyjob import ToyJob, ToyJobKind, ToyJobSpec

LIMIT = 2
WORKERS = ("uid-g", "worker")
MANY = settings(max_examples=150)

act = st.one_of(
    st.tuples(st.just("step")),
    st.tuples(st.just("settle")),
    st.tuples(st.just("run")),
    st.tuples(st.just("gone")),
    st.tuples(st.just("suspend"), st.booleans()),
    st.tuples(st.just("delete"), st.integers(0, 2)),
    st.tuples(st.just("advance"), st.integers(1, 60)),
    st.tuples(st.just("end"), st.integers(0, 2), st.sampled_from([0, 1, 137, 143, None])),
)


def make(*, gang, workers=3):
    role = ReplicaSpec(replicas=workers, restart_policy=RestartPolicy.EXIT_CODE, template=pod_template())
    policy = RunPolicy(backoff_limit=LIMIT)
    spec = ToyJobSpec(replica_specs={"worker": role}, gang=gang, run_policy=policy)
    return ToyJob(name="g", namespace="t", spec=spec)


def perform(world, action):
    match action:
        case ("step",):
            world.step()
        case ("settle",):
            world.settle()
        case ("run",):
            world.run_all()
        case ("gone",):
            world.finish_deletions()
        case ("suspend", wanted):
            world.job.spec.run_policy.suspend = wanted
        case ("advance", seconds):
            world.advance(seconds)
        case ("delete", index) if f"g-worker-{index}" in world.pods:
            world.delete_pod(index=index)
        case ("end", index, code) if f"g-worker-{index}" in world.pods:
            if world.pod(index=index)["status"]["phase"] in ("Succeeded", "Failed"):
                return  # a pod ends once
            phase = "Succeeded" if code == 0 else "Failed"
            world.set_pod(index=index, phase=phase, exit_code=code, pod_reason="" if code else "Evicted")


class Checks:
    """The invariants between one state and the next."""

    def __init__(self, world):
        self.world = world
        self.before = world.status.model_copy(deep=True)
        self.creates = 0

    def check(self):
        world, before, now = self.world, self.before, self.world.status
        assert {c.type for c in before.conditions} <= {c.type for c in now.conditions}
        assert is_finished(now) == (now.completion_time is not None)
        assert not (now.is_true("Succeeded") and now.is_true("Failed"))
        assert now.restart_count >= before.restart_count
        assert now.restart_count <= LIMIT
        assert now.disruption_count >= before.disruption_count
        assert now.attempt >= before.attempt
        if is_finished(before):
            assert now.conditions == before.conditions
            assert now.completion_time == before.completion_time
            assert len(world.creates) == self.creates
        self.before = now.model_copy(deep=True)
        self.creates = len(world.creates)


@MANY
@given(gang=st.booleans(), at_once=st.booleans(), actions=st.lists(act, max_size=40))
def test_no_history_breaks_the_invariants_and_every_one_comes_to_rest(gang, at_once, actions):
    world = Simulation(make(gang=gang), ToyJobKind(), deletes_at_once=at_once)
    checks = Checks(world)
    for action in actions:
        perform(world, action)
        checks.check()
        if gang and world.job.spec.run_policy.suspend is False:
            alive = [p for p in world.pods.values() if "deletionTimestamp" not in p["metadata"]]
            attempts = {p["metadata"]["labels"]["training.kubeflow.org/attempt"] for p in alive}
            assert len(attempts) <= 1 or at_once is False
    world.settle()
    checks.check()


@MANY
@given(gang=st.booleans(), actions=st.lists(act, max_size=30))
def test_left_alone_with_healthy_pods_an_unfinished_job_succeeds(gang, actions):
    world = Simulation(make(gang=gang), ToyJobKind())
    for action in actions:
        perform(world, action)
    world.job.spec.run_policy.suspend = False
    for _ in range(8):
        world.settle()
        world.advance(60)
        world.run_all()
    world.settle()
    if is_finished(world.status):
        return
    for index in range(3):
        if f"g-worker-{index}" in world.pods:
            world.set_pod(index=index, phase="Succeeded")
    world.settle()
    assert world.status.is_true("Succeeded")


class Lagging:
    """A cluster and a cache that shows what happens there only when it is told to."""

    def __init__(self) -> None:
        self.expectations: Expectations[tuple[str, str]] = Expectations(lambda: 0.0)
        self.real: dict[str, dict[str, Any]] = {}
        self.seen: dict[str, dict[str, Any]] = {}
        self.events: deque[tuple[str, str, dict[str, Any]]] = deque()
        self._serial = 0

    def deliver(self) -> None:
        verb, name, wire = self.events.popleft()
        if verb == "add":
            self.seen[name] = wire
            self.expectations.creation_observed(WORKERS, name)
        else:
            self.seen.pop(name, None)
            self.expectations.deletion_observed(WORKERS, wire["metadata"]["uid"])

    def remove(self, name: str) -> None:
        self.events.append(("delete", name, self.real.pop(name)))

    def create(self, manifest: dict[str, Any]) -> None:
        name = manifest["metadata"]["name"]
        assert name not in self.real
        self._serial += 1
        metadata = {**manifest["metadata"], "uid": f"u{self._serial}"}
        wire = {**manifest, "metadata": metadata, "status": {"phase": "Running"}}
        self.expectations.expect(WORKERS, creations=[name])
        self.real[name] = wire
        self.events.append(("add", name, wire))


@MANY
@given(st.lists(st.sampled_from(["reconcile", "deliver", "kill"]), max_size=60), st.booleans())
def test_a_lagging_cache_makes_no_pod_twice(schedule, gang):
    job, kind, world = make(gang=gang), ToyJobKind(), Lagging()
    job.metadata.uid = "uid-g"
    for word in [*schedule, "reconcile"]:
        if word == "deliver" and world.events:
            world.deliver()
        elif word == "kill" and world.real:
            world.remove(min(world.real))
        elif word == "reconcile":
            pods = tuple(msgspec.convert(each, PodView) for each in world.seen.values())
            unsettled = unsettled_roles(world.expectations, "uid-g", ["worker"])
            made = plan(job, Observed(pods, (), unsettled), T0, kind)
            job.status = made.status
            for doomed in made.delete_pods:
                known = world.real.get(doomed.name)
                if known and known["metadata"]["uid"] == doomed.uid:
                    world.expectations.expect(WORKERS, deletions=[doomed.uid])
                    world.remove(doomed.name)
            for create in made.creates:
                world.create(create.manifest)

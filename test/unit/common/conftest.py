# SPDX-License-Identifier: Apache-2.0
"""Makers of jobs and simulations that the tests of the base job controller share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dglop.common import ReplicaSpec, RestartPolicy, RunPolicy
from dglop.testing.builders import pod_template
from dglop.testing.simulation import Simulation
from dglop.testing.toyjob import ToyJob, ToyJobKind, ToyJobSpec
from test.unit.common.queue_world import QUEUE, QueueWorld

MakeJob = Callable[..., ToyJob]
Simulate = Callable[..., Simulation[ToyJob]]


@pytest.fixture
def make_job() -> MakeJob:
    def make(
        *,
        name: str = "g",
        workers: int = 2,
        roles: dict[str, int] | None = None,
        restart: RestartPolicy = RestartPolicy.EXIT_CODE,
        leader: str = "",
        gang: bool = False,
        template: dict[str, Any] | None = None,
        **policy: Any,
    ) -> ToyJob:
        specs = {
            role: ReplicaSpec(replicas=count, restart_policy=restart, template=template or pod_template())
            for role, count in (roles or {"worker": workers}).items()
        }
        spec = ToyJobSpec(replica_specs=specs, leader=leader, gang=gang, run_policy=RunPolicy(**policy))
        job = ToyJob(name=name, namespace="t", spec=spec)
        job.metadata.uid = f"uid-{name}"
        job.metadata.generation = 1
        return job

    return make


@pytest.fixture
def simulate(make_job: MakeJob) -> Simulate:
    """A simulation of a new job, already settled: its pods are there and Pending."""

    def make(
        *, kind: ToyJobKind | None = None, deletes_at_once: bool = True, **fields: Any
    ) -> Simulation[ToyJob]:
        world = Simulation(make_job(**fields), kind or ToyJobKind(), deletes_at_once=deletes_at_once)
        world.settle()
        return world

    return make


@pytest.fixture
def queued(make_job: MakeJob) -> Callable[..., QueueWorld]:
    """A job in a queue, already settled: it waits for the test to let it in."""

    def make(
        *,
        kind: ToyJobKind | None = None,
        labels: dict[str, str] | None = None,
        is_remote: bool = False,
        annotations: dict[str, str] | None = None,
        **fields: Any,
    ) -> QueueWorld:
        job = make_job(**fields)
        job.metadata.labels = {QUEUE: "q"} if labels is None else labels
        job.metadata.annotations = annotations or {}
        world = QueueWorld(job, kind or ToyJobKind(), is_remote=is_remote)
        world.settle()
        return world

    return make

# SPDX-License-Identifier: Apache-2.0
"""The parts that the shell is made of: patience, memory, expectations, unreadable jobs."""

from __future__ import annotations

import msgspec
import pytest

from dglop.common import Observed, plan
from dglop.common.backoff import Backoff
from dglop.common.constants import POD, SERVICE
from dglop.common.ignored import ignored_field
from dglop.common.memory import Memories
from dglop.common.unreadable import failed_status
from dglop.common.watching import SERVICES, ChildWatcher, unsettled_roles, wait_of
from dglop.errors import SchemaError
from dglop.runtime.cache.entry import read_object
from dglop.runtime.expectations import Expectations
from dglop.runtime.reconcile import Request
from dglop.testing.builders import T0, make_pod_wire
from dglop.testing.toyjob import ToyJobKind

KEY = ("uid-g", "worker")
G = Request("t", "g")


def cached(resource=POD, **fields):
    wire = make_pod_wire(**fields)
    if resource is SERVICE:
        wire["metadata"]["labels"].pop("training.kubeflow.org/replica-type")
    owner = {
        "apiVersion": "example.dev/v1",
        "kind": "TestJob",
        "name": "g",
        "uid": "uid-g",
        "controller": True,
    }
    wire["metadata"]["ownerReferences"] = [owner]
    wire["metadata"]["resourceVersion"] = "1"
    return read_object(msgspec.json.encode(wire), resource)[0]


def test_ten_minutes_of_refusals_are_at_most_twelve_tries():
    backoff, now, tries = Backoff(), 0.0, 0
    while now < 600:
        tries += 1
        backoff.failed(now)
        now += backoff.left(now)
    assert tries <= 12


def test_patience_ends_with_the_first_success():
    backoff = Backoff()
    backoff.failed(0.0)
    backoff.failed(1.0)
    assert backoff.left(1.0) == 2.0
    backoff.succeeded()
    assert backoff.left(1.0) == 0.0


def test_no_pause_is_longer_than_five_minutes():
    backoff = Backoff()
    for _ in range(100):
        backoff.failed(0.0)
    assert backoff.left(0.0) == 300.0


def test_a_hold_puts_the_next_try_off_without_making_later_ones_slower():
    backoff = Backoff()
    backoff.hold(0.0, 5.0)
    assert backoff.left(1.0) == 4.0
    assert backoff.failures == 0


def test_a_job_made_anew_under_its_name_begins_with_an_empty_memory():
    memories = Memories()
    memories.of(G, "one").objects.add(("Secret", "s"))
    assert memories.of(G, "one").objects
    assert not memories.of(G, "two").objects
    assert memories.forget(G) == "two"
    assert memories.forget(G) is None


@pytest.mark.parametrize(
    ("warning", "field"),
    [
        ('unknown field "spec.tolerationz"', "spec.tolerationz"),
        ('unknown field "metadata.labelz"', "metadata.labelz"),
        ('unknown field "spec.containers[1].resourcs"', "spec.containers{side}.resourcs"),
        (
            'unknown field "spec.initContainers[0].env[2].valeu"',
            "spec.initContainers{fetch}.env[2].valeu",
        ),
        ('duplicate field "spec.tolerations"', ""),
        ("would violate PodSecurity", ""),
    ],
)
def test_an_ignored_field_is_found_by_the_name_of_its_container(warning, field):
    containers = [{"name": "main"}, {"name": "side"}]
    pod = {"spec": {"containers": containers, "initContainers": [{"name": "fetch"}]}}
    assert ignored_field(warning, pod) == field


def test_a_pod_event_settles_its_role_and_a_service_event_does_not():
    expectations: Expectations[tuple[str, str]] = Expectations(lambda: 0.0)
    watcher = ChildWatcher(expectations)
    expectations.expect(KEY, creations=["g-worker-0"])
    expectations.expect(("uid-g", SERVICES), creations=["g-worker-0"])
    watcher.on_add(cached(SERVICE), is_initial=False)
    assert unsettled_roles(expectations, "uid-g", ["worker"]) == {"worker"}
    assert expectations.satisfied(("uid-g", SERVICES))
    watcher.on_add(cached(), is_initial=False)
    assert unsettled_roles(expectations, "uid-g", ["worker"]) == frozenset()


def test_a_deletion_is_seen_when_it_begins():
    expectations: Expectations[tuple[str, str]] = Expectations(lambda: 0.0)
    watcher = ChildWatcher(expectations)
    expectations.expect(KEY, deletions=["u1"])
    watcher.on_update(cached(uid="u1"), cached(uid="u1"))
    assert not expectations.satisfied(KEY)
    watcher.on_update(cached(uid="u1"), cached(uid="u1", deleted=T0))
    assert expectations.satisfied(KEY)


def test_a_pod_replaced_between_two_looks_counts_as_a_deletion_too():
    expectations: Expectations[tuple[str, str]] = Expectations(lambda: 0.0)
    expectations.expect(KEY, deletions=["u1"])
    ChildWatcher(expectations).on_update(cached(uid="u1"), cached(uid="u2"))
    assert expectations.satisfied(KEY)


def test_another_jobs_pod_of_the_same_name_settles_nothing():
    expectations: Expectations[tuple[str, str]] = Expectations(lambda: 0.0)
    expectations.expect(("uid-other", "worker"), creations=["g-worker-0"])
    ChildWatcher(expectations).on_add(cached(), is_initial=False)
    assert not expectations.satisfied(("uid-other", "worker"))


def test_the_wait_for_an_event_that_never_comes_has_an_end():
    clock = [0.0]
    expectations: Expectations[tuple[str, str]] = Expectations(lambda: clock[0])
    expectations.expect(KEY, creations=["g-worker-0"])
    assert wait_of(expectations, "uid-g", ["worker"]) == 300.0
    clock[0] = 301.0
    assert wait_of(expectations, "uid-g", ["worker"]) is None
    assert unsettled_roles(expectations, "uid-g", ["worker"]) == frozenset()


def test_a_job_that_does_not_fit_its_type_ends_as_invalid_and_keeps_its_conditions():
    created = {"type": "Created", "status": "True"}
    status = failed_status(
        {"status": {"conditions": [created]}}, "spec.x: must be a number", T0, managed_by="us"
    )
    assert status is not None
    assert [each["type"] for each in status["conditions"]] == ["Created", "Failed"]
    assert status["conditions"][1]["reason"] == "InvalidSpec"
    assert status["completionTime"] == "2026-01-01T12:00:00Z"


@pytest.mark.parametrize("status", [None, [], {"conditions": None}, {"conditions": ["x"]}])
def test_nonsense_in_its_status_does_not_matter(status):
    failed = failed_status({"status": status}, "no", T0, managed_by="us")
    assert failed is not None
    assert failed["conditions"][-1]["type"] == "Failed"


def test_one_that_has_ended_already_is_left_as_it_is():
    ended = {"status": {"conditions": [{"type": "Succeeded", "status": "True"}]}}
    assert failed_status(ended, "no", T0, managed_by="us") is None


@pytest.mark.parametrize("manager", [None, "", "us"])
def test_an_unreadable_job_of_our_own_is_ended(manager):
    wire = {"spec": {"runPolicy": {"managedBy": manager}}}
    assert failed_status(wire, "no", T0, managed_by="us")


def test_nothing_is_written_into_an_unreadable_job_that_another_controller_runs():
    wire = {"spec": {"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}}
    assert failed_status(wire, "no", T0, managed_by="us") is None


def test_objects_are_remembered_for_one_attempt_only():
    memory = Memories().of(G, "one")
    memory.begin(1)
    memory.objects.add(("Secret", "s"))
    memory.begin(1)
    assert memory.objects
    memory.begin(2)
    assert not memory.objects


class ClumsyKind(ToyJobKind):
    def replicas(self, job):
        raise SchemaError("spec.replicaSpecs.worker: no template")


def test_a_kind_that_cannot_tell_the_replicas_ends_the_job(make_job):
    made = plan(make_job(), Observed(), T0, ClumsyKind())
    failed = made.status.get("Failed")
    assert (failed.reason, failed.message) == ("InvalidSpec", "spec.replicaSpecs.worker: no template")
    assert made.status.completion_time == T0


def test_a_job_of_another_controller_is_left_alone_even_where_its_replicas_cannot_be_told(make_job):
    job = make_job(managed_by="kueue.x-k8s.io/multikueue")
    made = plan(job, Observed(), T0, ClumsyKind())
    assert made.status == job.status
    assert (made.events, made.counters) == ((), ())

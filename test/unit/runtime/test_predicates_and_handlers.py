# SPDX-License-Identifier: Apache-2.0
"""Which events pass, and whom they concern."""

from __future__ import annotations

import json

import pytest

from dglop.runtime.api import Resource
from dglop.runtime.cache.entry import read_object
from dglop.runtime.enqueue import EnqueueHandler
from dglop.runtime.handler import LOW_PRIORITY, NORMAL_PRIORITY, for_object, for_owner, mapped, priority_of
from dglop.runtime.predicate import (
    Created,
    Deleted,
    Updated,
    all_of,
    annotations_changed,
    any_of,
    generation_changed,
    has_labels,
    labels_changed,
    matches_labels,
    negate,
    resource_version_changed,
)
from dglop.runtime.queue import WorkQueue
from dglop.runtime.reconcile import Request
from dglop.runtime.source import Channel
from dglop.testing.clock import ManualClock

POD = Resource("", "v1", "Pod", "pods")
JOB = Resource("example.dev", "v1", "Job", "jobs")


def pod(name="p", owner="", controller=True, **metadata):
    if owner:
        metadata["ownerReferences"] = [
            {
                "apiVersion": "example.dev/v1beta1",
                "kind": "Job",
                "name": owner,
                "uid": "u",
                "controller": controller,
            }
        ]
    wire = {"metadata": {"name": name, "namespace": "ns", "resourceVersion": "1", **metadata}}
    return read_object(json.dumps(wire).encode(), POD)[0]


@pytest.mark.parametrize(
    ("predicate", "changed", "unchanged"),
    [
        (resource_version_changed, {"resourceVersion": "2"}, {"generation": 9}),
        (generation_changed, {"generation": 2}, {"resourceVersion": "2"}),
        (generation_changed, {"deletionTimestamp": "2026-01-01T00:00:00Z"}, {"labels": {"a": "b"}}),
        (labels_changed, {"labels": {"a": "b"}}, {"annotations": {"a": "b"}}),
        (annotations_changed, {"annotations": {"a": "b"}}, {"labels": {"a": "b"}}),
    ],
)
def test_a_predicate_lets_its_change_through_and_no_other_update(predicate, changed, unchanged):
    assert predicate(Updated(pod(), pod(**changed)))
    assert not predicate(Updated(pod(), pod(**unchanged)))
    assert predicate(Created(pod()))
    assert predicate(Deleted(pod()))


def test_labels_can_be_asked_for_by_value_or_by_key():
    event = Created(pod(labels={"app": "x", "role": "worker"}))
    assert has_labels({"app": "x", "role": None})(event)
    assert not has_labels({"app": "y"})(event)
    assert not has_labels({"other": None})(event)


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("app=x,tier in (a, b),!old", True),
        ("app!=x", False),
        ("app notin (y),gone notin (z)", True),
        ("tier", True),
        ("size>2", True),
        ("size<2", False),
        ({"app": "x", "tier": "a"}, True),
        (
            {"matchLabels": {"app": "x"}, "matchExpressions": [{"key": "old", "operator": "DoesNotExist"}]},
            True,
        ),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}]}, False),
        ("", True),
    ],
)
def test_a_label_selector_is_read_as_kubectl_reads_it(selector, matches):
    obj = pod(labels={"app": "x", "tier": "a", "size": "3"})
    assert matches_labels(selector)(Created(obj)) is matches
    assert matches_labels(selector)(Updated(pod(), obj)) is matches


@pytest.mark.parametrize("selector", ["app in x", "size>big", "a b"])
def test_what_is_no_label_selector_is_refused_where_it_is_written(selector):
    with pytest.raises(ValueError, match=r"which is no label selector|must be an integer"):
        matches_labels(selector)


def test_predicates_combine():
    event = Updated(pod(), pod(labels={"a": "b"}))
    assert all_of(labels_changed, negate(annotations_changed))(event)
    assert any_of(annotations_changed, labels_changed)(event)
    assert not all_of(annotations_changed, labels_changed)(event)


def test_first_lists_and_resyncs_have_low_priority_and_changes_have_not():
    assert priority_of(Created(pod(), is_initial=True)) == LOW_PRIORITY
    assert priority_of(Updated(pod(), pod())) == LOW_PRIORITY
    assert priority_of(Created(pod())) == NORMAL_PRIORITY
    assert priority_of(Updated(pod(), pod(resourceVersion="2"))) == NORMAL_PRIORITY
    assert priority_of(Deleted(pod())) == NORMAL_PRIORITY


def test_an_update_concerns_the_object():
    assert for_object(Updated(pod("a"), pod("a"))) == [Request("ns", "a")]
    assert for_object(Deleted(pod("a"))) == [Request("ns", "a")]


def test_an_owned_object_concerns_its_controller_in_any_version_of_its_group():
    owners = for_owner(JOB)
    assert owners(Created(pod(owner="job"))) == [Request("ns", "job")]
    assert owners(Created(pod())) == []
    assert owners(Created(pod(owner="job", controller=False))) == []
    assert for_owner(JOB, controller_only=False)(Created(pod(owner="job", controller=False)))


def test_a_change_of_owner_concerns_both_owners():
    assert for_owner(JOB)(Updated(pod(owner="a"), pod(owner="b"))) == [Request("ns", "a"), Request("ns", "b")]


def test_a_mapped_event_asks_each_request_once():
    handler = mapped(lambda obj: [Request("ns", "x"), Request("ns", obj.meta.name)])
    assert handler(Updated(pod("x"), pod("x"))) == [Request("ns", "x")]


def test_events_enter_the_queue_with_their_priority_unless_a_predicate_stops_them():
    queue = WorkQueue[Request](ManualClock())
    handler = EnqueueHandler(queue.add, for_object, [has_labels({"app": None})])
    handler.on_add(pod("no"), False)
    handler.on_add(pod("low", labels={"app": "x"}), True)
    handler.on_update(pod("changed"), pod("changed", labels={"app": "x"}, resourceVersion="2"))
    handler.on_delete(pod("gone", labels={"app": "x"}), False)
    assert dict(queue._schedule.depth) == {LOW_PRIORITY: 1, 0: 2}


def test_a_change_raises_what_a_resync_or_the_first_list_has_queued():
    queue, channel = WorkQueue[Request](ManualClock()), Channel[Request]()
    channel.connect(queue.add)
    handler = EnqueueHandler(queue.add, for_object)
    handler.on_add(pod("a"), True)
    handler.on_update(pod("b"), pod("b"))
    assert dict(queue._schedule.depth) == {LOW_PRIORITY: 2}
    handler.on_update(pod("b"), pod("b", resourceVersion="2"))
    channel.push(Request("ns", "a"))
    assert dict(queue._schedule.depth) == {LOW_PRIORITY: 0, NORMAL_PRIORITY: 2}


def test_a_channel_keeps_what_is_pushed_before_the_start():
    queue, channel = WorkQueue[Request](ManualClock()), Channel[Request]()
    channel.push(Request("ns", "early"))
    channel.connect(queue.add)
    channel.push(Request("ns", "late"))
    assert len(queue) == 2

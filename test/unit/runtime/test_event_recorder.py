# SPDX-License-Identifier: Apache-2.0
"""Events: series, floods, cutting, posting in the background, and what refusals cost."""

from __future__ import annotations

import io
import itertools
import re

import pytest

from dglop.runtime.client import Client
from dglop.runtime.events import MAX_QUEUE, EventRecorder, object_reference
from dglop.runtime.eventseries import BURST, IDLE_SECONDS, MAX_SERIES, EventKey, EventSeries, Patch, Post
from dglop.runtime.log import make_log
from dglop.runtime.metrics import Metrics
from dglop.testing.clock import ManualClock
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_replies import answer, drop, status

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "ns", "uid": "u1", "resourceVersion": "7"},
}


def key(reason="Created", note="made it", regarding="p") -> EventKey:
    return EventKey("Normal", reason, "Reconcile", note, ("v1", "Pod", "ns", regarding, "u1"))


def test_the_first_of_equal_events_is_posted_and_then_their_number_when_it_has_doubled():
    series = EventSeries()
    sent = [series.observe(key(), float(n), name=f"e{n}") for n in range(8)]
    assert sent == [
        Post("e0"),
        Patch(key(), "e0", 2),
        None,
        Patch(key(), "e0", 4),
        *[None] * 3,
        Patch(key(), "e0", 8),
    ]


def test_events_with_other_notes_are_other_events():
    series = EventSeries()
    assert series.observe(key(note="a"), 0.0, name="a") == Post("a")
    assert series.observe(key(note="b"), 0.0, name="b") == Post("b")


def test_a_series_ends_after_six_idle_minutes_and_its_last_count_is_written():
    series = EventSeries()
    for n in range(3):
        series.observe(key(), float(n), name="e")
    assert series.sweep(IDLE_SECONDS) == []
    assert series.sweep(2.0 + IDLE_SECONDS) == [Patch(key(), "e", 3)]
    assert series.observe(key(), 3.0 + IDLE_SECONDS, name="new") == Post("new")


def test_a_flood_about_one_object_is_cut_off_and_hurts_no_other():
    series = EventSeries()
    sent = [series.observe(key(note=str(n)), 0.0, name="e") for n in range(100)]
    assert sum(decision is not None for decision in sent) == BURST
    assert series.observe(key(regarding="other"), 0.0, name="e") is not None
    assert series.observe(key(note="later"), 300.0, name="e") is not None


def test_the_memory_is_bounded():
    series = EventSeries()
    for n in range(MAX_SERIES + 500):
        series.observe(key(regarding=f"p{n}"), 0.0, name="e")
    assert len(series) == MAX_SERIES


def test_a_reference_names_the_object_and_leaves_out_what_is_not_known():
    assert object_reference(POD) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "ns",
        "name": "p",
        "uid": "u1",
        "resourceVersion": "7",
    }
    assert object_reference({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}) == {
        "apiVersion": "v1",
        "kind": "Node",
        "name": "n",
    }


@pytest.fixture
async def server():
    async with ScriptedServer() as server:
        yield server


@pytest.fixture
async def recorder(server, request):
    from dglop.runtime.client import ClientConfig

    ids = itertools.count(1)
    config = ClientConfig(host=server.url, namespace="default")
    async with await Client.connect(config, clock=ManualClock()) as client:
        recorder = EventRecorder(
            client,
            controller="dglop",
            instance="dglop-host",
            clock=ManualClock(),
            log=make_log(level="warning", stream=io.StringIO()),
            new_id=lambda: str(next(ids)),
            metrics=Metrics(),
        )
        yield recorder
        await recorder.stop(seconds=0.0)


def outcome(recorder, name) -> float:
    return float(recorder._outcomes.labels(name)._value.get())


@pytest.mark.scripted
async def test_an_event_is_posted_as_events_v1_with_a_micro_time(server, recorder):
    server.on(lambda seen: True, answer({"kind": "Event"}, 201))
    recorder.record(POD, "Created", "made it", related={**POD, "metadata": {"name": "q", "namespace": "ns"}})
    recorder.start()
    (seen,) = await server.until(1)
    body = seen.json()
    assert seen.path == "/apis/events.k8s.io/v1/namespaces/ns/events"
    assert (body["reason"], body["note"], body["type"], body["action"]) == (
        "Created",
        "made it",
        "Normal",
        "Reconcile",
    )
    assert re.fullmatch(r".*\.\d{6}Z", body["eventTime"])
    assert body["metadata"]["name"] == "p.1"
    assert (body["regarding"]["uid"], body["related"]["name"]) == ("u1", "q")
    assert (body["reportingController"], body["reportingInstance"]) == ("dglop", "dglop-host")


@pytest.mark.scripted
async def test_an_event_about_a_cluster_scoped_object_lives_in_default(server, recorder):
    server.on(lambda seen: True, answer({"kind": "Event"}, 201))
    recorder.record({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}, "Created", "made it")
    recorder.start()
    (seen,) = await server.until(1)
    assert seen.path == "/apis/events.k8s.io/v1/namespaces/default/events"


@pytest.mark.scripted
async def test_a_repeated_event_patches_its_series_after_the_post(server, recorder):
    server.on(lambda seen: True, answer({"kind": "Event"}, 201))
    for _ in range(2):
        recorder.record(POD, "Created", "made it")
    recorder.start()
    post, patch = await server.until(2)
    assert post.method == "POST"
    assert patch.path.endswith("/events/p.1")
    assert patch.json()["series"]["count"] == 2


@pytest.mark.scripted
async def test_a_note_is_cut_to_what_the_server_takes(server, recorder):
    server.on(lambda seen: True, answer({"kind": "Event"}, 201))
    recorder.record(POD, "Created", "ü" * 2000)
    recorder.start()
    (seen,) = await server.until(1)
    note = seen.json()["note"]
    assert len(note.encode()) <= 1024
    assert note.endswith("ü…")


@pytest.mark.scripted
async def test_a_refused_event_is_counted_and_the_next_one_is_posted(server, recorder):
    server.on(lambda seen: True, status(403, "Forbidden", "namespace is terminating"), answer({}, 201))
    recorder.record(POD, "Created", "first")
    recorder.record(POD, "Created", "second")
    recorder.start()
    await server.until(2)
    await recorder.stop(seconds=10.0)
    assert (outcome(recorder, "refused"), outcome(recorder, "posted")) == (1, 1)


@pytest.mark.scripted
async def test_stopping_does_not_wait_for_a_server_that_does_not_answer(server, recorder):
    server.on(lambda seen: True, drop)
    recorder.record(POD, "Created", "made it")
    recorder.start()
    await server.until(1)
    await recorder.stop(seconds=0.0)


@pytest.mark.scripted
async def test_events_beyond_a_thousand_waiting_ones_are_dropped_and_counted(server, recorder):
    for n in range(MAX_QUEUE + 5):
        recorder.record({**POD, "metadata": {"name": f"p{n}", "uid": str(n)}}, "Created", "made it")
    assert outcome(recorder, "dropped") == 5

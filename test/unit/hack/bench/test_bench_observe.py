# SPDX-License-Identifier: Apache-2.0
"""The observer of a load: what the lines of two watches make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hack.bench.errors import BenchError
from hack.bench.observe import Observer
from hack.bench.workload import JOB_LABEL


def _event(kind: str, name: str, labels: dict[str, str] | None = None, **status: Any) -> bytes:
    metadata = {"name": name, "labels": labels or {}, "uid": "unread"}
    return json.dumps({"type": kind, "object": {"metadata": metadata, "status": status}}).encode()


def _pod(name: str, job: str, phase: str = "Pending", kind: str = "ADDED") -> bytes:
    return _event(kind, name, {JOB_LABEL: job}, phase=phase)


def _job(name: str, condition: str, status: str = "True") -> bytes:
    said = {"type": condition, "status": status, "message": "its words"}
    return _event("MODIFIED", name, conditions=[said])


def test_a_job_is_done_when_its_condition_says_so_and_not_before() -> None:
    observer = Observer(["a", "b"], 1)
    observer.sent("a", 10)
    observer.sent("b", 11)
    observer.job_event(_event("ADDED", "a"), 11)
    observer.job_event(_job("a", "Succeeded", "False"), 12)
    assert observer.done == 0
    observer.job_event(_job("a", "Succeeded"), 13)
    observer.job_event(_job("a", "Succeeded"), 99)
    assert not observer.finished
    observer.job_event(_job("b", "Succeeded"), 15)
    assert observer.finished
    assert observer.wall == 5


def test_the_median_is_of_the_time_from_a_jobs_request_to_its_last_pod() -> None:
    observer = Observer(["a", "b"], 2)
    for job, sent in (("a", 0), ("b", 1)):
        observer.sent(job, sent)
        observer.pod_event(_pod(f"{job}-0", job), sent + 1)
        observer.pod_event(_pod(f"{job}-0", job, kind="MODIFIED"), sent + 2)
    observer.pod_event(_pod("a-1", "a"), 4)
    observer.pod_event(_pod("b-1", "b"), 7)
    assert observer.pods_p50 == 5
    assert observer.pods == 4


def test_without_an_operator_a_job_is_done_with_its_last_pod() -> None:
    observer = Observer(["a"], 2, by_pods=True)
    observer.sent("a", 0)
    for name in ("a-0", "a-1"):
        assert not observer.finished
        observer.pod_event(_pod(name, "a", "Succeeded"), 3)
    assert observer.finished


def test_what_is_not_of_the_load_is_not_counted() -> None:
    observer = Observer(["a"], 1)
    observer.pod_event(_pod("x-0", "x"), 1)
    observer.pod_event(_event("ADDED", "bare"), 1)
    observer.pod_event(b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}', 1)
    observer.job_event(_job("x", "Failed"), 1)
    assert observer.pods == 0
    assert observer.done == 0


def test_a_failed_job_ends_the_measurement_with_its_own_words() -> None:
    with pytest.raises(BenchError, match="job a failed: its words"):
        Observer(["a"], 1).job_event(_job("a", "Failed"), 1)


def test_a_failed_pod_ends_the_measurement() -> None:
    with pytest.raises(BenchError, match="pod a-0 failed"):
        Observer(["a"], 1).pod_event(_pod("a-0", "a", "Failed"), 1)


def test_a_watch_that_ends_in_an_error_ends_the_measurement() -> None:
    line = b'{"type":"ERROR","object":{"kind":"Status","metadata":{},"status":"Failure","message":"too old"}}'
    with pytest.raises(BenchError, match="too old"):
        Observer(["a"], 1).pod_event(line, 1)


def test_a_watch_that_a_busy_server_gives_up_begins_anew() -> None:
    status = b'{"metadata":{},"status":"Failure","message":"Too large resource version","code":504}'
    observer = Observer(["a"], 1)
    observer.pod_event(b'{"type":"ERROR","object":' + status + b"}", 1)
    assert observer.pods == 0

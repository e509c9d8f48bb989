# SPDX-License-Identifier: Apache-2.0
"""Index ranges, termination messages and views."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.common.counting import format_ranges, parse_ranges
from dglop.common.failure import Cause, failure_of
from dglop.common.lastwords import read_last_words
from dglop.common.types import RestartPolicy
from dglop.common.views import PodView
from dglop.testing.builders import at, container_status, make_pod, make_pod_wire


@given(st.sets(st.integers(0, 1200)))
def test_ranges_come_back_as_they_were(numbers):
    assert parse_ranges(format_ranges(numbers), 1201) == numbers


def test_ranges_are_short():
    assert format_ranges([5, 0, 1, 2]) == "0-2,5"
    assert format_ranges(range(1000)) == "0-999"
    assert format_ranges([]) == ""


@pytest.mark.parametrize("text", ["x", "1-", "-", ",,", "1-x", "²", "0-²", "٣", "1" * 5000])
def test_nonsense_in_ranges_is_left_out(text):
    assert parse_ranges(text, 4) <= {1}


@pytest.mark.parametrize("end", ["3", "9999999999", "9" * 5000])
def test_ranges_end_where_the_replicas_do_however_far_they_are_written(end):
    assert parse_ranges(f"2-{end},7", 4) == {2, 3}


@given(st.text("0123456789-, x²"))
def test_any_text_can_be_read_as_ranges(text):
    assert parse_ranges(text, 8) <= set(range(8))


@given(st.text())
def test_any_termination_message_can_be_read(text):
    assert len(read_last_words(text).text) <= 600


def test_a_supervisors_words_are_taken_apart():
    said = {"cause": "self", "process": "server-0", "exitCode": 137, "oom": True, "lines": ["a", "b"]}
    words = read_last_words(json.dumps(said))
    assert (words.cause, words.process, words.reason, words.text) == ("self", "server-0", "OOMKilled", "a\nb")


@pytest.mark.parametrize("text", ['{"loss": 0.1}', '{"cause": 3}', '{"cut', "[1]"])
def test_json_that_no_supervisor_wrote_is_text(text):
    words = read_last_words(text)
    assert (words.cause, words.text) == ("", text)


def test_a_failure_says_pod_process_code_signal_and_reason_in_at_most_1024_characters():
    message = json.dumps({"cause": "self", "process": "trainer-1", "exitCode": 137, "lines": ["x" * 5000]})
    pod = make_pod(phase="Failed", exit_code=137, reason="OOMKilled", message=message)
    failure = failure_of(pod, "worker", RestartPolicy.EXIT_CODE)
    assert failure.message.startswith("g-worker-0: trainer-1 exited with code 137, SIGKILL (OOMKilled): …x")
    assert len(failure.to_wire().message) <= 1024
    assert failure.to_wire().signal == 9


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            {"process": "pod", "pod": "g-worker-1", "reason": "PeerLost", "lines": ["silent for 10 s"]},
            "g-worker-0: ended because of g-worker-1 (PeerLost): silent for 10 s",
        ),
        (
            {"process": "trainer-0", "pod": "g-worker-1", "reason": "PeerFailed"},
            "g-worker-0: ended because of trainer-0 of g-worker-1 (PeerFailed)",
        ),
        ({"process": "pod"}, "g-worker-0: ended because of another pod"),
    ],
)
def test_a_pod_that_ended_because_of_another_names_it(said, sentence):
    message = json.dumps({"cause": "peer", **said})
    pod = make_pod(phase="Failed", exit_code=143, message=message)
    assert failure_of(pod, "worker", RestartPolicy.EXIT_CODE).message == sentence


def test_a_pod_that_was_deleted_after_it_had_failed_still_failed_by_itself():
    pod = make_pod(phase="Failed", exit_code=1, finished=at(10), deleted=at(20))
    assert failure_of(pod, "worker", RestartPolicy.EXIT_CODE).exit_code == 1


def test_a_pod_that_ended_because_it_was_deleted_did_not_fail_by_itself():
    pod = make_pod(phase="Failed", exit_code=1, finished=at(25), deleted=at(20))
    failure = failure_of(pod, "worker", RestartPolicy.EXIT_CODE)
    assert (failure.reason, failure.is_from_outside) == ("Deleted", True)


def test_a_native_sidecars_restarts_are_not_counted():
    wire = make_pod_wire(containers=[container_status(restarts=1)], restart_policy="OnFailure")
    wire["status"]["initContainerStatuses"] = [container_status("proxy", restarts=9)]
    assert msgspec.convert(wire, PodView).restarts == 10
    wire["spec"]["initContainers"] = [{"name": "proxy", "restartPolicy": "Always"}]
    assert msgspec.convert(wire, PodView).restarts == 1


def test_healthy_pods_have_no_failure():
    for pod in (make_pod(), make_pod(phase="Pending"), make_pod(phase="Succeeded")):
        assert failure_of(pod, "worker", RestartPolicy.EXIT_CODE) is None


def test_the_exit_code_of_a_supervisors_own_verdict_is_no_signal():
    message = json.dumps({"cause": "self", "process": "fetch", "exitCode": 144, "reason": "PartsUnreachable"})
    pod = make_pod(phase="Failed", exit_code=144, message=message)
    failure = failure_of(pod, "worker", RestartPolicy.EXIT_CODE)
    assert failure.signal is None
    assert failure.message == "g-worker-0: fetch exited with code 144 (PartsUnreachable)"


@pytest.mark.parametrize(
    "words",
    [
        "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
        'Container dgl exceeded its local ephemeral storage limit "1Gi". ',
        'Usage of EmptyDir volume "dshm" exceeds the limit "1Gi". ',
    ],
)
def test_a_pod_that_used_more_than_its_own_limit_failed_by_itself(words):
    pod = make_pod(phase="Failed", pod_reason="Evicted", message=words)
    failure = failure_of(pod, "worker", RestartPolicy.EXIT_CODE)
    assert failure.cause is Cause.OWN
    assert failure.is_retryable
    assert words.strip() in failure.message


def test_a_pod_that_a_node_under_pressure_evicts_was_disrupted():
    pressed = make_pod(phase="Failed", pod_reason="Evicted", message="The node was low on resource: memory. ")
    target = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}
    told = make_pod(phase="Failed", pod_reason="Evicted", message="exceeds the limit", conditions=[target])
    for pod in (pressed, told):
        assert failure_of(pod, "worker", RestartPolicy.EXIT_CODE).cause is Cause.DISRUPTION


def test_restarts_of_a_container_beside_the_main_one_with_a_policy_of_its_own_do_not_count():
    statuses = [container_status("main", restarts=1), container_status("serve", restarts=4)]
    wire = make_pod_wire(containers=statuses, restart_policy="OnFailure")
    assert msgspec.convert(wire, PodView).restarts == 5
    wire["spec"]["containers"][1]["restartPolicy"] = "OnFailure"
    assert msgspec.convert(wire, PodView).restarts == 1
    wire["spec"]["containers"][0]["restartPolicy"] = "OnFailure"
    assert msgspec.convert(wire, PodView).restarts == 1, "the main container's always count"

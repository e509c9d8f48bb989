# SPDX-License-Identifier: Apache-2.0
"""What a job says of pods that make no headway: the container, since when, and where to look."""

from __future__ import annotations

import msgspec
import pytest

from dglop.common.views import PodView
from dglop.common.waiting import waiting_reason
from dglop.runtime.api.times import format_time
from dglop.testing.builders import at, container_status, make_pod, make_pod_wire

SCHEDULED = {"type": "PodScheduled", "status": "True", "lastTransitionTime": format_time(at(5))}


def pod(index=0, *, init=(), sidecar="", main=None, restart_policy="Never", **spec):
    """A pod that a node has taken up 5 s after its creation; `main` is its container's status."""
    wire = make_pod_wire(
        index=index,
        phase="Pending",
        conditions=[SCHEDULED],
        containers=[main or container_status(waiting="PodInitializing")],
        init_containers=init,
        restart_policy=restart_policy,
    )
    if sidecar:
        wire["spec"]["initContainers"] = [{"name": sidecar, "restartPolicy": "Always"}]
    wire["spec"] |= {"nodeName": "n1", **spec}
    return msgspec.convert(wire, PodView)


def untouched(**spec):
    wire = make_pod_wire(phase="Pending", containers=[])
    wire["spec"] |= spec
    return msgspec.convert(wire, PodView)


def said(*pods, seconds):
    return waiting_reason("g", pods, at(seconds)).trouble


def test_a_container_that_is_long_in_the_making_is_named_with_the_command_that_says_why():
    stuck = [pod(index, main=container_status(waiting="ContainerCreating")) for index in (0, 1)]
    waits = waiting_reason("g", stuck, at(20))
    assert waits.trouble is None
    assert waits.again.total_seconds() == 15
    assert waiting_reason("g", stuck, at(35)).again is None
    reason, message = said(*stuck, seconds=35)
    assert reason == "ContainerCreating"
    assert message == (
        "container main waits to be created (worker-0, worker-1): since 2026-01-01T12:00:05Z, "
        "see kubectl events -n t --for pod/g-worker-0"
    )


def test_a_container_is_in_the_making_from_the_end_of_the_init_container_before_it():
    fetched = pod(init=[container_status("fetch", exit_code=0, finished=at(100))])
    assert said(fetched, seconds=129) is None
    assert (
        "container main waits to be created (worker-0): since 2026-01-01T12:01:40Z"
        in said(fetched, seconds=130)[1]
    )


def test_the_first_init_container_is_the_one_that_waits_where_a_volume_cannot_be_mounted():
    stuck = pod(init=[container_status(name, waiting="PodInitializing") for name in ("a", "b")])
    assert said(stuck, seconds=60)[1].startswith("container a waits to be created (worker-0)")


def test_an_init_container_that_never_ends_is_named_with_its_log():
    reason, message = said(pod(init=[container_status("i")]), seconds=60)
    assert reason == "PodInitializing"
    assert message.startswith("init container i runs, and the others wait for its end (worker-0): since ")
    assert message.endswith("see kubectl logs -n t g-worker-0 -c i")


def test_a_scheduler_that_is_not_there_is_named():
    alone = untouched(schedulerName="nosuch")
    assert said(alone, seconds=29) is None
    reason, message = said(alone, seconds=30)
    assert reason == "NotScheduled"
    assert message.startswith(
        "scheduler nosuch has said nothing of the pod (worker-0): since 2026-01-01T12:00"
    )


def test_a_node_that_is_not_there_is_named():
    reason, message = said(untouched(nodeName="ghost"), seconds=30)
    assert reason == "NodeSilent"
    assert message.endswith("see kubectl get node ghost")


@pytest.mark.parametrize(
    "state",
    [
        container_status("proxy", exit_code=3, restarts=4),
        container_status("proxy", waiting="CrashLoopBackOff", restarts=4)
        | {"lastState": {"terminated": {"exitCode": 3}}},
        container_status("proxy", restarts=4) | {"lastState": {"terminated": {"exitCode": 3}}},
    ],
    ids=["ended", "pausing", "running for a moment"],
)
def test_a_sidecar_that_ends_again_and_again_is_named_whatever_it_does_just_now(state):
    reason, message = said(pod(init=[state], sidecar="proxy"), seconds=10)
    assert reason == "CrashLoopBackOff"
    assert message == (
        "container proxy exited with code 3 and is restarted (worker-0): "
        "see kubectl logs -n t g-worker-0 -c proxy --previous"
    )


def test_an_init_container_that_is_restarted_is_named():
    state = container_status("i", waiting="CrashLoopBackOff", restarts=1)
    found = said(pod(init=[state], restart_policy="OnFailure"), seconds=10)
    assert found[1].startswith("container i ends again and again and is restarted (worker-0)")


def test_a_sidecar_that_has_run_for_a_while_since_its_restart_is_no_trouble():
    proxy = container_status("proxy", restarts=1)  # since 1 s
    well = pod(init=[proxy], sidecar="proxy", main=container_status(ready=False))
    assert waiting_reason("g", [well], at(20)).again.total_seconds() == 11
    assert said(well, seconds=31) is None


def test_what_is_sure_is_said_before_a_mere_delay():
    slow = [pod(index, main=container_status(waiting="ContainerCreating")) for index in (0, 1)]
    sure = make_pod(index=2, phase="Pending", waiting="ErrImagePull")
    assert said(*slow, sure, seconds=60)[0] == "ImagePullBackOff"


def test_a_delay_is_shown_without_any_event_and_is_gone_with_it(simulate):
    world = simulate(workers=1)
    world.advance(29)
    assert world.status.get("Running") is None
    world.advance(1)
    assert world.status.get("Running").reason == "NotScheduled"
    world.pod()["status"] = {"phase": "Pending", "conditions": [SCHEDULED]}
    world.settle()
    assert world.status.get("Running").reason == "Waiting"


def told(world):
    return [(each.reason, each.type) for each in world.events if each.action == "Wait"]


@pytest.mark.parametrize(
    "reason",
    ["ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError"],
)
def test_what_keeps_a_container_from_starting_is_told_once_and_shown_until_it_starts(simulate, reason):
    world = simulate(workers=1)
    for words in ("one", "another", "a third"):
        waiting = container_status(waiting=reason, waiting_message=words)
        world.pod()["status"] = {"phase": "Pending", "containerStatuses": [waiting]}
        world.settle()
        assert world.status.reason == reason
    assert told(world) == [(reason, "Warning")]
    assert world.events[-1].note == "one (worker-0)"
    world.run_all()
    world.settle()
    assert (world.status.reason, world.status.is_true("Running")) == ("", True)
    assert told(world) == [(reason, "Warning")]


def test_an_image_that_is_tried_again_and_again_is_told_once(simulate):
    world = simulate(workers=1)
    for reason in ("ErrImagePull", "ImagePullBackOff") * 3:
        world.pod()["status"] = {"phase": "Pending", "containerStatuses": [container_status(waiting=reason)]}
        world.settle()
    assert world.status.reason == "ImagePullBackOff"
    assert told(world) == [("ImagePullBackOff", "Warning")]


def test_a_pod_without_a_node_is_told_once_it_has_been_so_for_a_moment(simulate):
    world = simulate(workers=1)
    words = 'persistentvolumeclaim "data" not found'
    held = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words}
    held["lastTransitionTime"] = format_time(world.now)
    world.pod()["status"] = {"phase": "Pending", "conditions": [held]}
    world.settle()
    assert (world.status.reason, told(world)) == ("", [])
    world.advance(5)
    assert world.status.reason == "Unschedulable"
    assert told(world) == [("Unschedulable", "Warning")]
    assert world.events[-1].note == f"{words} (worker-0)"


def test_a_pod_that_a_queue_holds_back_is_shown_and_is_no_warning(simulate):
    world = simulate(workers=1)
    held = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "gated"}
    world.pod()["status"] = {"phase": "Pending", "conditions": [held]}
    world.settle()
    assert (world.status.reason, told(world)) == ("SchedulingGated", [])


@pytest.mark.parametrize(("stands", "count"), [("True", 0), ("False", 1)])
def test_a_long_pull_is_no_warning_and_a_volume_that_is_not_there_is(simulate, stands, count):
    world = simulate(workers=1)
    sandbox = {"type": "PodReadyToStartContainers", "status": stands}
    waiting = [container_status(waiting="ContainerCreating")]
    world.pod()["status"] = {
        "phase": "Pending",
        "conditions": [SCHEDULED, sandbox],
        "containerStatuses": waiting,
    }
    world.settle()
    world.advance(60)
    assert world.status.reason == "ContainerCreating"
    assert len(told(world)) == count


def test_what_held_the_attempt_before_is_not_shown_for_the_next_one(simulate):
    world = simulate(workers=2, gang=True)
    world.set_pod(index=0)
    waiting = container_status(waiting="ErrImagePull")
    world.pod(index=1)["status"] = {"phase": "Pending", "containerStatuses": [waiting]}
    world.settle()
    world.set_pod(index=0, phase="Failed", exit_code=137)
    world.settle()
    assert (world.status.attempt, world.status.reason) == (2, "")


def test_a_job_that_failed_shows_why_and_one_that_succeeded_shows_nothing_but_its_last_failure(simulate):
    failed = simulate(workers=1)
    failed.set_pod(phase="Failed", exit_code=1)
    failed.settle()
    assert failed.status.reason == "TestJobFailed"
    again = simulate(workers=1)
    again.run_all()
    again.settle()
    again.delete_pod()
    again.settle()
    again.set_pod(phase="Succeeded")
    again.settle()
    assert again.status.is_true("Succeeded")
    assert (again.status.reason, again.status.last_failure.reason) == ("", "Deleted")


def test_a_normal_start_writes_and_tells_nothing_of_waiting(simulate):
    world = simulate(workers=1)
    before = len(world.writes)
    world.pod()["status"] = {"phase": "Pending", "conditions": [SCHEDULED]}
    waiting = [container_status(waiting="ContainerCreating")]
    world.pod()["status"]["containerStatuses"] = waiting
    world.settle()
    assert len(world.writes) == before
    assert world.status.get("Running") is None

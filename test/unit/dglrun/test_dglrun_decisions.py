# SPDX-License-Identifier: Apache-2.0
"""What dglrun decides without any I/O: who may join, what is launched, ranges, last words, samplers."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import signal

import pytest

from dglop.dglrun import contract
from dglop.dglrun.ending import MESSAGE_LIMIT, Refusal, last_words
from dglop.dglrun.env import Env, Identity
from dglop.dglrun.gang import Gang
from dglop.dglrun.launch import Shape, ip_config, launch_plan
from dglop.dglrun.machine import ipv4
from dglop.dglrun.ranges import NOT_SATISFIABLE, Span, parse_range
from dglop.dglrun.rendezvous import Who, common_address, different_parts, missing, refusal
from dglop.dglrun.samplers import Process, SamplerWatch, process_table

GANG = Gang((("worker", 2),))
HOST = Who(0, "job-worker-0", "10.0.0.1", "5f1e", 2, "abc")


def guest(**changes: object) -> Who:
    said = {"index": 1, "pod": "job-worker-1", "ip": "10.0.0.2"} | changes
    return dataclasses.replace(HOST, **said)  # type: ignore[arg-type]


def test_a_pod_of_this_job_and_attempt_may_join() -> None:
    assert refusal(HOST, guest(), GANG) is None


@pytest.mark.parametrize(
    ("changes", "final"),
    [({"job_uid": "other"}, False), ({"attempt": 1}, True), ({"attempt": 3}, False), ({"index": 2}, True)],
)
def test_others_are_refused_and_told_whether_to_try_again(changes: dict[str, object], final: bool) -> None:
    answer = refusal(HOST, guest(**changes), GANG)
    assert answer is not None
    assert answer.final is final


def test_parts_of_two_partitionings_are_a_retryable_failure() -> None:
    failure = different_parts(HOST, guest(manifest="xyz"))
    assert failure is not None
    assert (failure.exit_code, failure.reason) == (contract.EXIT_RETRYABLE, "PartsChanged")
    assert different_parts(HOST, guest()) is None


def test_two_workers_with_one_address_are_a_failure_that_names_both() -> None:
    failure = common_address(HOST, [guest(ip="10.0.0.1")])
    assert failure is not None
    assert "job-worker-0 and job-worker-1" in failure.lines[0]
    assert common_address(HOST, [guest()]) is None


def test_who_is_missing_is_named() -> None:
    assert "worker-1, worker-3" in missing(HOST, [2], Gang((("worker", 4),)), 600).lines[0]


SHAPE = Shape(workers=2, trainers=2, servers=2, samplers=1, port_base=30050, master_port=29500)


def plan(index: int = 1, **base: str) -> dict[str, dict[str, str]]:
    identity = Identity(Env({contract.ENV_JOB_UID: "5f1e", contract.ENV_REPLICA_INDEX: str(index)}))
    commands = launch_plan(
        ["train"],
        identity=identity,
        shape=SHAPE,
        peers=[HOST, guest()],
        paths=("/etc/dgl/ip_config", "/parts/digits.json"),
        threads=3,
        base=base,
    )
    return {command.name: dict(command.env) for command in commands}


def test_servers_are_numbered_over_the_whole_job_and_start_first() -> None:
    envs = plan()
    assert list(envs) == ["server-0", "server-1", "trainer-0", "trainer-1"]
    assert [envs[name]["DGL_SERVER_ID"] for name in ("server-0", "server-1")] == ["2", "3"]
    assert "DGL_DIST_MODE" not in envs["server-0"]


def test_trainers_are_ranked_over_the_whole_job_and_samplers_are_clients_too() -> None:
    trainer = plan()["trainer-1"]
    expected = {
        "RANK": "3",
        "LOCAL_RANK": "1",
        "WORLD_SIZE": "4",
        "MASTER_ADDR": "10.0.0.1",
        "MASTER_PORT": "29500",
        "DGL_ROLE": "client",
        "DGL_DIST_MODE": "distributed",
        "DGL_NUM_CLIENT": "8",
        "DGL_NUM_SERVER": "2",
        "DGL_NUM_SAMPLER": "1",
        "DGL_IP_CONFIG": "/etc/dgl/ip_config",
        "DGL_CONF_PATH": "/parts/digits.json",
        "OMP_NUM_THREADS": "3",
    }
    assert trainer.items() >= expected.items()


def test_the_users_own_environment_wins_but_not_over_who_is_who() -> None:
    envs = plan(OMP_NUM_THREADS="8", DGL_GRAPH_FORMAT="coo", RANK="7", DGL_SERVER_ID="9")
    assert envs["trainer-0"]["OMP_NUM_THREADS"] == envs["server-0"]["OMP_NUM_THREADS"] == "8"
    assert envs["server-0"]["DGL_GRAPH_FORMAT"] == "coo"
    assert envs["trainer-0"]["RANK"] == "2"
    assert envs["server-0"]["DGL_SERVER_ID"] == "2"


def test_ip_config_has_a_line_without_blanks_around_it_for_each_worker() -> None:
    assert ip_config([HOST, guest()], SHAPE) == "10.0.0.1 30050\n10.0.0.2 30050\n"


def test_the_first_ipv4_of_a_dual_stack_pod_is_taken() -> None:
    assert ipv4("fd00::1,10.1.2.3") == "10.1.2.3"
    with pytest.raises(Refusal, match="IPv4"):
        ipv4("fd00::1")


@pytest.mark.parametrize(
    ("header", "span"),
    [
        (None, None),
        ("bytes=0-", (0, 100)),
        ("bytes=40-", (40, 100)),
        ("bytes=40-49", (40, 50)),
        ("bytes=40-4000", (40, 100)),
        ("bytes=-10", (90, 100)),
        ("bytes=100-", NOT_SATISFIABLE),
        ("bytes=-0", NOT_SATISFIABLE),
        ("bytes=50-40", None),
        ("bytes=0-1,5-6", None),
        ("bytes=-", None),
        ("lines=1-2", None),
    ],
)
def test_one_range_is_understood_and_what_is_none_gives_all(header: str | None, span: Span | None) -> None:
    assert parse_range(header, 100) == span


def test_last_words_fit_and_lose_their_oldest_lines_first() -> None:
    lines = [f"{number} " + "ü" * 300 for number in range(30)]
    text = last_words({"cause": "self", "process": "trainer-0", "exitCode": 1, "lines": lines})
    said = json.loads(text)
    assert len(text.encode()) <= MESSAGE_LIMIT
    assert said["exitCode"] == 1
    assert said["lines"][-1] == lines[-1]
    assert said["lines"] == lines[-len(said["lines"]) :]


def test_a_result_of_too_many_metrics_loses_the_last_of_them_and_nothing_else() -> None:
    metrics = [{"name": f"m{number}" + "x" * 60, "value": "1" * 64} for number in range(32)]
    text = last_words({"result": {"progressPercentage": 100, "metrics": metrics, "reportTime": "t"}})
    assert len(text.encode()) <= MESSAGE_LIMIT
    result = json.loads(text)["result"]
    assert (result["progressPercentage"], result["reportTime"]) == (100, "t")
    assert result["metrics"] == metrics[: len(result["metrics"])]
    assert len(result["metrics"]) > 20


def test_last_words_are_one_line_whatever_the_process_wrote() -> None:
    assert "\n" not in last_words({"lines": ["a\nb", "\x00\u2028"]})


def test_a_variable_that_makes_no_sense_is_named_with_its_value() -> None:
    env = Env({"A": "many", "B": "-1", "C": ""})
    with pytest.raises(Refusal, match="A=many"):
        env.integer("A")
    with pytest.raises(Refusal, match="B=-1"):
        env.seconds("B", 1.0)
    with pytest.raises(Refusal, match="C is not set"):
        env.text("C")


TRAINERS = {10: "trainer-0"}


def sampler(*, status: int | None = None) -> Process:
    return Process(20, 10, is_zombie=status is not None, status=status or 0, is_spawned=status is None)


def test_a_dead_sampler_that_its_trainer_does_not_collect_is_a_failure() -> None:
    watch = SamplerWatch()
    assert watch.look([sampler()], TRAINERS) == []
    assert watch.look([sampler(status=9)], TRAINERS) == []
    (end,) = watch.look([sampler(status=9)], TRAINERS)
    assert (end.name, end.code, end.signal) == ("trainer-0/sampler", 137, 9)
    assert watch.look([sampler(status=9)], TRAINERS) == []


@pytest.mark.parametrize("status", [0, signal.SIGTERM])
def test_a_sampler_that_ended_well_or_was_ended_is_none(status: int) -> None:
    watch = SamplerWatch()
    looks = [sampler(), sampler(status=status), sampler(status=status)]
    assert [watch.look([look], TRAINERS) for look in looks] == [[], [], []]


def test_another_child_of_a_trainer_is_its_own_business() -> None:
    watch = SamplerWatch()
    assert [watch.look([sampler(status=9)], TRAINERS) for _ in range(3)] == [[], [], []]


def test_a_killed_sampler_whose_trainer_died_of_it_is_a_failure_but_not_one_that_gave_up() -> None:
    watch = SamplerWatch()
    watch.look([sampler()], TRAINERS)
    end = watch.orphaned(20, 9)
    assert end is not None
    assert end.signal == 9
    watch.look([sampler()], TRAINERS)
    assert watch.orphaned(20, 1 << 8) is None
    assert watch.orphaned(21, 9) is None


def test_spawned_processes_and_how_zombies_ended_are_seen_in_proc() -> None:
    child = multiprocessing.get_context("spawn").Process(target=signal.pause)
    child.start()
    assert child.pid is not None
    (alive,) = [process for process in process_table() if process.pid == child.pid]
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    (dead,) = [process for process in process_table() if process.pid == child.pid]
    child.join()
    child.close()
    assert (alive.parent, alive.is_spawned, alive.is_zombie) == (os.getpid(), True, False)
    assert (dead.is_zombie, dead.status) == (True, 9)

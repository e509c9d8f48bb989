# SPDX-License-Identifier: Apache-2.0
"""Servers, samplers and trainers in pods of their own: what each is told, and how such gangs end."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dglrun import contract
from dglop.dglrun.ending import Refusal
from dglop.dglrun.env import Env, Identity
from dglop.dglrun.gang import Gang
from dglop.dglrun.remote.duty import apart
from dglop.dglrun.remote.frames import Frames, answer, greet
from dglop.dglrun.remote.hook import site_env
from dglop.dglrun.rendezvous import Who
from dglop.dglrun.wire import Gone
from test.unit.dglrun.dglrun_asserts import assert_peer, peer_of, wait_for_line
from test.unit.dglrun.dglrun_gang import Gang as Pods

if TYPE_CHECKING:
    from dglop.dglrun.duty import Duty

MakeGang = Callable[..., Pods]
WAIT_FOR_EVER = "signal.pause()"
# three trainers, two servers, two samplers, in the order of their seats
PEERS = [Who(seat, f"pod-{seat}", f"10.0.0.{seat}", "5f1e", 1, "abc") for seat in range(7)]


def duty(role: str, index: int = 0, **more: str) -> Duty:
    counts = {
        contract.ENV_NUM_TRAINER_PODS: "3",
        contract.ENV_NUM_SERVER_PODS: "2",
        contract.ENV_NUM_SAMPLER_PODS: "2",
        contract.ENV_JOB_UID: "5f1e",
        contract.ENV_REPLICA_INDEX: str(index),
    }
    env = Env(counts | more)
    return apart(env, Identity(env), role)


def told(each: Duty) -> dict[str, dict[str, str]]:
    commands = each.commands(["train"], PEERS, ("/etc/dgl/ip_config", "/parts/digits.json"), {})
    return {command.name: dict(command.env) for command in commands}


def test_every_pod_has_a_seat_and_a_name() -> None:
    gang = Gang((("trainer", 3), ("server", 2), ("sampler", 1)))
    assert [gang.name(seat) for seat in range(gang.size)] == [
        "trainer-0", "trainer-1", "trainer-2", "server-0", "server-1", "sampler-0",
    ]  # fmt: skip
    assert (gang.seat("server", 1), gang.hub, gang.name(6)) == (4, "trainer-0", "seat 6")
    assert str(gang) == "3 trainers, 2 servers, 1 sampler"
    with pytest.raises(ValueError, match="there is no sampler-1"):
        gang.seat("sampler", 1)


def test_a_pod_that_the_job_does_not_have_is_refused() -> None:
    with pytest.raises(Refusal, match="there is no server-2"):
        duty("server", 2)


def test_ip_config_lists_the_servers_alone() -> None:
    assert duty("trainer").ip_config(PEERS) == "10.0.0.3 30050\n10.0.0.4 30050\n"


def test_only_servers_need_a_part_and_only_trainers_finish_something() -> None:
    found = {
        role: (duty(role, 1).part, sorted(duty(role, 1).finishes))
        for role in ("server", "trainer", "sampler")
    }
    assert found == {"server": (1, []), "trainer": (None, ["trainer-0"]), "sampler": (None, [])}


def test_clients_are_trainers_and_samplers_of_all_pods() -> None:
    each = {contract.ENV_NUM_TRAINERS: "2", contract.ENV_NUM_SAMPLERS: "4", contract.ENV_NUM_SERVERS: "3"}
    envs = told(duty("server", 1, **each))
    assert list(envs) == ["server-0", "server-1", "server-2"]
    assert [env["DGL_SERVER_ID"] for env in envs.values()] == ["3", "4", "5"]
    assert {env["DGL_NUM_CLIENT"] for env in envs.values()} == {"14"}
    assert not any("sitecustomize" in str(env) or contract.ENV_HOME_PART in env for env in envs.values())


def test_a_trainer_is_told_its_home_and_where_its_samplers_listen() -> None:
    envs = [told(duty("trainer", index))["trainer-0"] for index in range(3)]
    assert [env["RANK"] for env in envs] == ["0", "1", "2"]
    assert [env[contract.ENV_HOME_PART] for env in envs] == ["0", "0", "1"]
    assert [env[contract.ENV_SAMPLERS] for env in envs] == [
        "10.0.0.5:30050",
        "10.0.0.6:30050",
        "10.0.0.5:30050",
    ]
    assert {env["DGL_NUM_SAMPLER"] for env in envs} == {"0"}
    assert {env["MASTER_ADDR"] for env in envs} == {"10.0.0.0"}


def test_samplers_of_one_pod_listen_on_ports_of_their_own() -> None:
    each = {contract.ENV_NUM_SAMPLERS: "2"}
    envs = told(duty("sampler", 1, **each))
    assert [env[contract.ENV_SAMPLER_PORT] for env in envs.values()] == ["30050", "30051"]
    assert (
        told(duty("trainer", 0, **each))["trainer-0"][contract.ENV_SAMPLERS]
        == "10.0.0.5:30050,10.0.0.6:30051"
    )


def test_without_samplers_trainers_sample_themselves() -> None:
    none = {contract.ENV_NUM_SAMPLER_PODS: "0"}
    assert told(duty("trainer", 0, **none))["trainer-0"][contract.ENV_SAMPLERS] == "-"


def test_a_users_sitecustomize_is_run_too_and_dgl_is_left_alone_until_it_is_imported(tmp_path: Any) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('mine')\n")
    (tmp_path / "dgl").mkdir()
    (tmp_path / "dgl" / "__init__.py").write_text("__version__ = '2.4'\n")
    (tmp_path / "dgl" / "distributed.py").write_text("print('imported')\n")
    env = site_env({"PYTHONPATH": f"{tmp_path}:src/dglop", contract.ENV_HOME_PART: "0"})
    run = subprocess.run(
        [sys.executable, "-c", "print('began'); import dgl.distributed"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.split() == ["mine", "began", "imported"]
    assert "TriWorkload needs DGL 1.1, this is 2.4" in run.stderr


@pytest.fixture
def line() -> Any:
    server = socket.create_server(("127.0.0.1", 0))
    near = socket.create_connection(server.getsockname())
    far, _ = server.accept()
    yield Frames(near), Frames(far)
    for each in (near, far, server):
        each.close()


@pytest.mark.scripted
def test_a_trainer_and_its_sampler_prove_to_each_other_that_they_are_of_one_job(line: Any) -> None:
    near, far = line
    ranks: list[int] = []
    thread = Thread(target=lambda: ranks.append(answer(far, "token")))
    thread.start()
    greet(near, "token", 5)
    thread.join()
    assert ranks == [5]
    near.send(b"x" * 100_000)
    assert far.receive() == b"x" * 100_000


@pytest.mark.scripted
def test_a_sampler_reads_nothing_from_who_does_not_know_the_token(line: Any) -> None:
    near, far = line
    heard: list[Gone] = []

    def serve() -> None:
        try:
            answer(far, "token")
        except Gone as gone:
            heard.append(gone)
        far.close()

    thread = Thread(target=serve)
    thread.start()
    with pytest.raises(Gone):
        greet(near, "another", 5)
    thread.join()
    assert "does not know this job's token" in str(heard[0])


@pytest.mark.scripted
def test_a_greeting_is_short_or_refused(line: Any) -> None:
    near, far = line
    near.send(b"x" * 5000)
    with pytest.raises(Gone, match="a block of 5000 bytes"):
        answer(far, "token")


@pytest.mark.scripted
def test_all_pods_succeed_when_all_trainers_end_well(make_gang: MakeGang) -> None:
    pods = make_gang().start_apart(trainers=2)
    for name in ("server-0", "server-1", "sampler-0"):
        pods[name].order(f"{name.partition('-')[0]}-0", WAIT_FOR_EVER)
    for name in ("trainer-0", "trainer-1"):
        pods[name].order("trainer-0", "from dglrun import report; report(100, loss=0.5)")
    results = {name: pod.wait() for name, pod in pods.items()}
    assert {code for code, _ in results.values()} == {0}
    assert results["trainer-0"][1]["result"]["progressPercentage"] == 100
    assert {name for name, (_, message) in results.items() if message} == {"trainer-0"}
    assert [pod.left() for pod in pods.values()] == [[]] * 5


@pytest.mark.scripted
@pytest.mark.parametrize("victim", ["server-1", "sampler-0", "trainer-0"])
def test_a_killed_process_of_any_role_ends_the_attempt(make_gang: MakeGang, victim: str) -> None:
    pods = make_gang().start_apart()
    wait_for_line(pods[victim], "children are started")
    process = f"{victim.partition('-')[0]}-0"
    pods[victim].order(process, "os.kill(os.getpid(), signal.SIGKILL)")
    code, message = pods.pop(victim).wait()
    assert (code, message["cause"], message["process"], message["signal"]) == (
        137,
        "self",
        process,
        signal.SIGKILL,
    )
    for pod in pods.values():
        assert_peer(pod.wait(), peer_of(f"job-{victim}", "PeerFailed", process))


@pytest.mark.scripted
def test_a_pod_that_never_comes_is_named(make_gang: MakeGang) -> None:
    gang = make_gang(**{contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS: "1"})
    pods = gang.start_apart(servers=2, samplers=0)
    pods["server-1"].process.kill()
    code, message = pods["trainer-0"].wait()
    assert code == contract.EXIT_RETRYABLE
    assert (message["reason"], "server-1" in message["lines"][0]) == ("PeersMissing", True)

# SPDX-License-Identifier: Apache-2.0
"""`worker`: gangs of real supervisors that meet, train and end once."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dglrun import contract
from test.unit.dglrun.dglrun_asserts import assert_peer, finish, peer_of, train, wait_for_line
from test.unit.dglrun.dglrun_gang import Gang

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.scripted

MakeGang = Callable[..., Gang]
WAIT_FOR_EVER = "signal.pause()"
NEVER_GIVE_IN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()"


def test_all_workers_succeed_when_all_trainers_end_well(make_gang: MakeGang) -> None:
    workers = make_gang().start()
    train(*workers)
    for worker in workers:
        worker.order("trainer-0", "print('hello'); sys.exit(0)")
    assert [worker.wait() for worker in workers] == [(0, {}), (0, {})]
    assert "[trainer-0] hello\n" in workers[1].log
    assert [worker.left() for worker in workers] == [[], []]


def test_a_worker_that_is_done_waits_for_the_others_and_servers_run_until_then(make_gang: MakeGang) -> None:
    first, second = make_gang().start()
    second.order("trainer-0", "sys.exit(0)")
    # the other trainer still finds the server of the Worker that is done
    second.order("server-0", f"open({str(first.folder / 'seen')!r}, 'w').close(); sys.exit(0)")
    first.order("trainer-0", "sys.exit(0)")
    first.order("server-0", WAIT_FOR_EVER)
    assert first.wait() == (0, {})
    assert second.wait() == (0, {})
    assert (first.folder / "seen").exists()


def test_ip_config_has_the_addresses_in_the_order_of_the_parts(make_gang: MakeGang) -> None:
    workers = make_gang(**{contract.ENV_PORT_BASE: "31000"}).start()
    train(*workers)
    for worker in workers:
        worker.order("trainer-0", "print(open(os.environ['DGL_IP_CONFIG']).read())")
    for worker in workers:
        assert worker.wait()[0] == 0
        assert "[trainer-0] 127.0.0.1 31000\n[trainer-0] 127.0.0.2 31000\n" in worker.log


def test_ready_is_there_once_all_have_met_and_started_and_goes_at_the_end(make_gang: MakeGang) -> None:
    gang = make_gang()
    first = gang.start_one(0)
    wait_for_line(first, "waiting for the others")
    assert not first.is_ready
    second = gang.start_one(1)
    wait_for_line(first, "children are started")
    assert first.is_ready
    finish(first, second)
    assert not first.is_ready


def test_a_trainer_that_exits_1_fails_its_worker_and_ends_the_others_as_peers(make_gang: MakeGang) -> None:
    first, second = make_gang().start()
    second.order("trainer-0", "print('Value' + 'Error: no'); sys.exit(1)")
    code, message = second.wait()
    assert code == 1
    assert message["lines"] == ["trainer 0 waits", "ValueError: no"]
    assert message.items() >= {"cause": "self", "process": "trainer-0", "exitCode": 1}.items()
    assert_peer(first.wait(), peer_of("job-worker-1", "PeerFailed", "trainer-0"))
    assert [first.left(), second.left()] == [[], []]


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("process", ["trainer-0", "server-0"])
def test_a_killed_process_is_the_failure_whoever_else_ends_because_of_it(
    make_gang: MakeGang, index: int, process: str
) -> None:
    workers = make_gang().start()
    victim, other = workers[index], workers[1 - index]
    other.order("server-0", WAIT_FOR_EVER)
    # the trainer that lost its peer says so with an ordinary error, at the same moment
    other.order_soon("trainer-0", "sys.exit(1)")
    victim.order(process, "os.kill(os.getpid(), signal.SIGKILL)")
    code, message = victim.wait()
    assert code == 137
    assert message.items() >= {"cause": "self", "process": process, "exitCode": 137, "signal": 9}.items()
    assert_peer(other.wait(), peer_of(f"job-worker-{index}", "PeerFailed", process))


def test_the_first_of_two_errors_decides_and_only_one_worker_says_self(make_gang: MakeGang) -> None:
    first, second = make_gang().start()
    first.order("trainer-0", "sys.exit(3)")
    second.order("trainer-0", "sys.exit(4)")
    results = [first.wait(), second.wait()]
    assert sorted(message["cause"] for _, message in results) == ["peer", "self"]
    assert {code for code, _ in results} & {3, 4}


def test_children_that_ignore_sigterm_are_killed_with_all_that_they_started(make_gang: MakeGang) -> None:
    first, second = make_gang(**{contract.ENV_KILL_SECONDS: "0.3"}).start()
    stubborn = "import signal\n" + NEVER_GIVE_IN
    child = f"import subprocess\nsubprocess.Popen([sys.executable, '-c', {stubborn!r}])\n" + NEVER_GIVE_IN
    first.order("server-0", child)
    second.order("trainer-0", "sys.exit(1)")
    assert second.wait()[0] == 1
    assert first.wait()[0] == contract.EXIT_PEER
    assert [first.left(), second.left()] == [[], []]


@pytest.mark.parametrize("index", [0, 1])
def test_a_worker_told_to_stop_says_so_and_its_peers_end_because_of_it(
    make_gang: MakeGang, index: int
) -> None:
    workers = make_gang().start()
    for worker in workers:
        worker.order("server-0", WAIT_FOR_EVER)
    workers[index].process.send_signal(signal.SIGTERM)
    code, message = workers[index].wait()
    assert (code, message["cause"]) == (contract.EXIT_PEER, "stop")
    assert_peer(workers[1 - index].wait(), peer_of(f"job-worker-{index}", "PeerStopped"))


@pytest.mark.parametrize("index", [0, 1])
def test_a_worker_that_is_killed_whole_is_a_lost_peer(make_gang: MakeGang, index: int) -> None:
    workers = make_gang().start()
    for worker in workers:
        worker.order("server-0", WAIT_FOR_EVER)
    other = workers[1 - index]
    workers[index].process.kill()
    other.order_soon("trainer-0", "sys.exit(1)")
    assert_peer(other.wait(), peer_of(f"job-worker-{index}", "PeerLost"))


@pytest.mark.parametrize("index", [0, 1])
def test_a_frozen_worker_is_a_lost_peer_even_if_a_trainer_dies_of_it_first(
    make_gang: MakeGang, index: int
) -> None:
    workers = make_gang(**{contract.ENV_LOST_SECONDS: "1.5"}).start()
    for worker in workers:
        worker.order("server-0", WAIT_FOR_EVER)
    frozen, other = workers[index], workers[1 - index]
    frozen.process.send_signal(signal.SIGSTOP)
    other.order_soon("trainer-0", "sys.exit(1)")
    assert_peer(other.wait(), peer_of(f"job-worker-{index}", "PeerLost"))
    frozen.process.send_signal(signal.SIGCONT)
    assert frozen.wait()[0] == contract.EXIT_PEER


def test_a_command_that_does_not_exist_fails_with_127_and_its_name(make_gang: MakeGang) -> None:
    gang = make_gang(**{contract.ENV_NUM_WORKERS: "1", contract.ENV_NUM_PARTS: "1"})
    code, message = gang.start_one(0, ["/no/such/program"]).wait()
    assert (code, message["process"]) == (127, "server-0")
    assert message["lines"] == ["cannot start /no/such/program: No such file or directory"]


def test_a_missing_variable_is_named(make_gang: MakeGang) -> None:
    code, message = make_gang().start_one(0, **{contract.ENV_POD_IP: ""}).wait()
    assert code == contract.EXIT_CONFIG
    assert message["reason"] == "ConfigInvalid"
    assert contract.ENV_POD_IP in message["lines"][0]


def test_the_last_report_is_posted_as_final_with_the_token_and_is_the_result(
    make_gang: MakeGang, tmp_path: Path
) -> None:
    posts: list[tuple[str, dict[str, Any]]] = []

    class Operator(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posts.append((self.headers["Authorization"], json.loads(body)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Operator)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    (tmp_path / "status-token").write_text("mine")
    workers = make_gang(
        **{
            contract.ENV_STATUS_URL: f"http://127.0.0.1:{server.server_address[1]}/v1/namespaces/n/dgljobs/job",
            contract.ENV_STATUS_TOKEN_FILE: str(tmp_path / "status-token"),
        }
    ).start()
    train(*workers)
    workers[0].order("trainer-0", "from dglrun import report; report(40, loss=0.5); report(100, loss=0.12)")
    workers[1].order("trainer-0", "sys.exit(0)")
    code, message = workers[0].wait()
    server.shutdown()
    server.server_close()
    report = {"progressPercentage": 100, "metrics": [{"name": "loss", "value": "0.12"}]}
    times = [body.pop("reportTime") for _, body in posts] + [message["result"].pop("reportTime")]
    assert (code, message) == (0, {"result": report})
    assert workers[1].wait() == (0, {})
    assert times == sorted(times)
    assert posts[-1] == ("Bearer mine", {"jobUID": "5f1e", "attempt": 1, "final": True, **report})


def test_a_server_that_fails_while_it_ends_after_all_training_does_no_harm(make_gang: MakeGang) -> None:
    first, second = make_gang(**{contract.ENV_VERDICT_SECONDS: "60"}).start()
    train(second)
    first.order("server-0", "os.abort()")
    wait_for_line(first, "server-0 ended: signal 6")
    for worker in (first, second):
        worker.order("trainer-0", "sys.exit(0)")
    assert [first.wait(), second.wait()] == [(0, {}), (0, {})]


def test_a_worker_with_other_parts_than_the_latched_ones_does_not_begin(make_gang: MakeGang) -> None:
    code, message = make_gang().start_one(0, **{contract.ENV_MANIFEST_HASH: "0" * 64}).wait()
    assert (code, message["reason"]) == (contract.EXIT_RETRYABLE, "PartsChanged")

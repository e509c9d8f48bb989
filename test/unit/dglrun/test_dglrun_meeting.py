# SPDX-License-Identifier: Apache-2.0
"""`worker`: who is let into a gang, who is not, and who is waited for."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from dglop.dglrun import contract
from test.unit.dglrun.dglrun_asserts import assert_peer, finish, peer_of, wait_for_line
from test.unit.dglrun.dglrun_gang import Gang

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.scripted

MakeGang = Callable[..., Gang]


def test_peers_with_parts_of_two_partitionings_never_train(make_gang: MakeGang) -> None:
    gang, other = make_gang(), make_gang()
    first = gang.start_one(0)
    second = gang.start_one(1, **{contract.ENV_PARTS_DIR: str(other.folder / "parts")})
    code, message = first.wait()
    assert (code, message["reason"]) == (contract.EXIT_RETRYABLE, "PartsChanged")
    assert gang.manifest in message["lines"][0]
    assert other.manifest in message["lines"][0]
    assert_peer(second.wait(), peer_of("job-worker-0", "PeerFailed", "rendezvous"))


def test_a_pod_of_an_older_attempt_is_refused_and_the_gang_meets_without_it(make_gang: MakeGang) -> None:
    gang = make_gang()
    first = gang.start_one(0, **{contract.ENV_ATTEMPT: "2"})
    old = gang.start_one(1, **{contract.ENV_ATTEMPT: "1"})
    code, message = old.wait()
    assert (code, message["cause"]) == (contract.EXIT_PEER, "peer")
    assert "attempt 1 is over" in message["lines"][0]
    second = gang.start_one(1, **{contract.ENV_ATTEMPT: "2"})
    finish(first, second)


def test_a_pod_of_a_newer_attempt_waits_until_its_worker_0_comes(make_gang: MakeGang) -> None:
    gang = make_gang()
    old = gang.start_one(0)
    second = gang.start_one(1, **{contract.ENV_ATTEMPT: "2"})
    wait_for_line(second, "which is still ending")
    old.process.send_signal(signal.SIGTERM)
    assert old.wait()[1]["cause"] == "stop"
    first = gang.start_one(0, **{contract.ENV_ATTEMPT: "2"})
    finish(first, second)


def test_a_pod_that_does_not_know_the_token_is_not_let_in(make_gang: MakeGang, tmp_path: Path) -> None:
    gang = make_gang()
    first = gang.start_one(0)
    (tmp_path / "other-token").write_text("something else")
    foreign = gang.start_one(1, **{contract.ENV_PARTS_TOKEN_FILE: str(tmp_path / "other-token")})
    wait_for_line(foreign, "the tokens differ")
    foreign.process.send_signal(signal.SIGTERM)
    assert foreign.wait()[1]["cause"] == "stop"
    finish(first, gang.start_one(1))


def test_who_is_missing_is_named_when_the_workers_do_not_all_come(make_gang: MakeGang) -> None:
    gang = make_gang(**{contract.ENV_NUM_WORKERS: "2", contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS: "0.3"})
    code, message = gang.start_one(0).wait()
    assert (code, message["reason"]) == (contract.EXIT_RETRYABLE, "PeersMissing")
    assert message["lines"] == ["after 0.3 s still missing: worker-1"]


def test_a_worker_that_never_meets_worker_0_says_where_it_looked(make_gang: MakeGang) -> None:
    gang = make_gang(**{contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS: "0.1"})
    code, message = gang.start_one(1).wait()
    assert (code, message["reason"]) == (contract.EXIT_RETRYABLE, "PeersMissing")
    assert f"worker-0 at 127.0.0.1:{gang.port}" in message["lines"][0]

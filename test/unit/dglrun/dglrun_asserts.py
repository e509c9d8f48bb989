# SPDX-License-Identifier: Apache-2.0
"""What tests of gangs have in common: gangs that train and end well, and what a peer says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.dglrun import contract

if TYPE_CHECKING:
    from test.unit.dglrun.dglrun_gang import Worker

__all__ = ("assert_peer", "finish", "peer_of", "train", "wait_for_line")


def train(*workers: Worker) -> None:
    """Servers that end well by themselves, as DGL's do."""
    for worker in workers:
        worker.order("server-0", "sys.exit(0)")


def peer_of(pod: str, reason: str, process: str = "pod") -> dict[str, str]:
    return {"cause": "peer", "pod": pod, "process": process, "reason": reason}


def assert_peer(result: tuple[int, dict[str, Any]], expected: dict[str, str]) -> None:
    code, message = result
    assert code == contract.EXIT_PEER
    assert message.items() >= expected.items()


def finish(*workers: Worker) -> None:
    train(*workers)
    for worker in workers:
        worker.order("trainer-0", "sys.exit(0)")
    assert [worker.wait() for worker in workers] == [(0, {})] * len(workers)


def wait_for_line(worker: Worker, text: str) -> str:
    """The log's first line with `text`, as soon as it is there."""
    with (worker.folder / "log").open() as log:
        rest = ""
        while True:
            rest += log.readline()
            if rest.endswith("\n"):
                if text in rest:
                    return rest
                rest = ""
            assert worker.process.poll() is None, worker.log

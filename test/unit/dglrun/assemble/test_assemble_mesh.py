# SPDX-License-Identifier: Apache-2.0
"""The connections between the processes that make parts together."""

from __future__ import annotations

import contextlib
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dglop.dglrun.assemble.meet import connect_mesh
from dglop.dglrun.assemble.mesh import Mesh, PeerLost
from dglop.dglrun.ending import Refusal
from test.unit.dglrun.assemble.assemble_graphs import together
from test.unit.dglrun.dglrun_builders import free_port

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.scripted


def test_each_gets_what_each_has_for_it_whatever_its_type_and_size() -> None:
    def work(mesh: Mesh) -> list[Any]:
        # larger than what the kernel takes without a reader, in both directions at once
        arrays = [np.full((400_000, 2), 10 * mesh.rank + to, np.int32) for to in range(mesh.size)]
        arrays[0] = np.zeros((0, 3), bool)
        return mesh.exchange(arrays)

    for rank, got in enumerate(together(3, work)):
        for source, array in enumerate(got):
            wanted = (
                np.zeros((0, 3), bool) if rank == 0 else np.full((400_000, 2), 10 * source + rank, np.int32)
            )
            assert array.dtype == wanted.dtype
            assert np.array_equal(array, wanted)


def test_words_sums_gathered_and_scattered_arrays_are_the_same_to_all() -> None:
    def work(mesh: Mesh) -> tuple[Any, ...]:
        gathered = mesh.gather(np.array([mesh.rank]))
        pieces = None if gathered is None else [each + 5 for each in gathered]
        total = mesh.total(np.array([1, mesh.rank])).tolist()
        return mesh.share({"rank": mesh.rank}), total, mesh.scatter(pieces).tolist(), mesh.largest(mesh.rank)

    said = [{"rank": 0}, {"rank": 1}, {"rank": 2}]
    assert together(3, work) == [(said, [3, 3], [5 + rank], 2) for rank in range(3)]


def test_who_loses_a_peer_says_which() -> None:
    def work(mesh: Mesh) -> str:
        if mesh.rank == 1:
            return "leaves"
        with pytest.raises(PeerLost, match="process 1 is gone"):
            mesh.share("a word")
        return "noticed"

    assert together(2, work) == ["noticed", "leaves"]


def _come(rank: int, addresses: list[str], **more: Any) -> Any:
    """What comes of a process' coming: the ranks that it met, or what went wrong."""
    try:
        mesh = connect_mesh(rank, addresses, **{"run": "uid/1", "token": "secret", "patience": 60.0, **more})
    except (PeerLost, Refusal) as error:
        return error
    try:
        return mesh.share(rank)
    finally:
        mesh.close()


def _met(addresses: list[str]) -> list[Any]:
    with ThreadPoolExecutor(len(addresses)) as pool:
        return list(pool.map(lambda rank: _come(rank, addresses), range(len(addresses))))


def _tcp(size: int) -> list[str]:
    return [f"127.0.0.{rank + 1}:{free_port()}" for rank in range(size)]


def test_processes_meet_over_tcp_and_in_one_pod_over_sockets_in_a_folder(tmp_path: Path) -> None:
    for addresses in (_tcp(3), [str(tmp_path / str(rank)) for rank in range(3)]):
        assert _met(addresses) == [[0, 1, 2]] * 3
    assert list(tmp_path.iterdir()) == [], "sockets were left behind"


@pytest.mark.parametrize("odd", [{"token": "guessed"}, {"token": None}, {"run": "uid/2"}])
def test_a_process_with_another_token_or_of_another_attempt_is_not_let_in(odd: dict[str, Any]) -> None:
    addresses, met = _tcp(2), []
    host = threading.Thread(target=lambda: met.append(_come(0, addresses)))
    host.start()
    refused = ""
    while "this is of another job or attempt" not in refused:
        # tried once each time, until the host listens
        refused = str(_come(1, addresses, **{"patience": 0.0, **odd}))
    assert _come(1, addresses) == [0, 1]
    host.join()
    assert met == [[0, 1]]


def test_who_does_not_come_in_time_is_named() -> None:
    assert "still missing: [1, 2]" in str(_come(0, _tcp(3), patience=0.1))


def test_a_stranger_on_the_port_disturbs_nobody() -> None:
    addresses = _tcp(2)
    host, port = addresses[0].split(":")
    done = threading.Event()

    def knock() -> None:
        while not done.is_set():
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1) as visit:
                visit.sendall(b"GET / HTTP/1.1\r\n\r\n")
                return

    stranger = threading.Thread(target=knock)
    stranger.start()
    try:
        assert _met(addresses) == [[0, 1]] * 2
    finally:
        done.set()
        stranger.join()


def test_a_port_that_is_taken_is_said_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Refusal, match=f"cannot listen at {address}, where the other Workers look"):
            connect_mesh(0, [address, "127.0.0.2:1"], run="uid/1")

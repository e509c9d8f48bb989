# SPDX-License-Identifier: Apache-2.0
"""A sampler in a pod of its own: DGL's own loop over what its trainers send."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import socket
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import Any, Dict, Tuple

from ..wire import Gone
from .frames import Frames, answer

__all__ = ("Desk", "serve_samples")


@dataclass(frozen=True)
class _Lost:
    """A trainer whose line broke before it said that it was done."""

    rank: int
    why: str


class Desk:
    """Takes the tasks of several trainers as one queue, and brings each batch to whom it belongs.

    Loaders of different trainers have the same names; here each goes by its trainer's rank, too.
    """

    def __init__(self, token: str, trainers: int) -> None:
        """`trainers`: how many there will be; the loop ends when that many have said that they are done."""
        self._token, self._left = token, trainers
        self._tasks: queue.SimpleQueue[Tuple[int, Any]] = queue.SimpleQueue()
        self._lines: Dict[int, Frames] = {}
        self.served = 0

    def listen(self, listener: socket.socket) -> None:
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def get(self, timeout: float) -> Tuple[Any, Any]:
        """The next task, as DGL's loop wants it. Raises queue.Empty, and Gone for a trainer that is lost."""
        from dgl.distributed.dist_context import MpCommand  # noqa: PLC0415

        while True:
            rank, block = self._tasks.get(timeout=timeout)
            if isinstance(block, _Lost):
                raise Gone("trainer %d %s" % (block.rank, block.why))
            # here, and not where it was read: a graph that is unpickled asks the servers, one at a time
            command, told = pickle.loads(block)
            if command == MpCommand.FINALIZE_POOL:
                self._left -= 1
                if self._left:
                    continue
            elif command in (
                MpCommand.SET_COLLATE_FN,
                MpCommand.DELETE_COLLATE_FN,
                MpCommand.CALL_COLLATE_FN,
            ):
                told = ((rank, told[0]), *told[1:])
            return command, told

    def put(self, result: Tuple[Tuple[int, str], Any]) -> None:
        """Bring a batch to its trainer. Raises Gone."""
        (rank, loader), batch = result
        self._lines[rank].send(pickle.dumps((loader, batch), protocol=4))
        self.served += 1

    def wait(self) -> None:
        """Samplers of several machines have no barrier; DGL itself asks for none."""

    def _accept(self, listener: socket.socket) -> None:
        while True:
            connection, address = listener.accept()
            threading.Thread(target=self._read, args=(connection, address[0]), daemon=True).start()

    def _read(self, connection: socket.socket, address: str) -> None:
        frames = Frames(connection)
        try:
            rank = answer(frames, self._token)
        except Gone as gone:
            print("a connection from %s came to nothing: %s" % (address, gone), flush=True)
            frames.close()
            return
        self._lines[rank] = frames
        try:
            while True:
                self._tasks.put((rank, frames.receive()))
        except Gone as gone:
            self._tasks.put((rank, _Lost(rank, str(gone))))


def serve_samples(
    rpc_config: Tuple[Any, ...], *, address: Tuple[str, int], token: str, trainers: int
) -> None:
    """Sample for `trainers` trainers, who find it at `address`, until all are done; then end the process.

    `rpc_config` is DGL's.
    """
    from dgl.distributed import dist_context  # noqa: PLC0415

    desk = Desk(token, trainers)
    try:
        with contextlib.closing(socket.create_server(address, backlog=128)) as listener:
            # before DGL's servers hear of this sampler: they let trainers go on when all clients are there
            desk.listen(listener)
            dist_context.init_process(rpc_config, (desk, desk, desk))
    except Exception:  # noqa: BLE001
        # what failed must not wait for the others at its exit, as DGL does, or nobody hears of it
        traceback.print_exc()
        sys.stdout.flush()
        os._exit(1)
    print("%d batches sampled" % desk.served, flush=True)
    sys.exit()

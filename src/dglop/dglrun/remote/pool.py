# SPDX-License-Identifier: Apache-2.0
"""A trainer's samplers, as DGL's loaders know them, in other pods."""

from __future__ import annotations

import pickle
import queue
import socket
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple, Union

from ..wire import Gone
from .frames import Frames, greet

if TYPE_CHECKING:
    _Base = Any
else:
    _Base = object

__all__ = ("RemotePool", "connect")

Address = Tuple[str, int]
_CONNECT_SECONDS = 30.0


def connect(address: Address, token: str, rank: int) -> Frames:
    """A line to a sampler, which has been listening since before this trainer could know of it. Raises Gone."""
    try:
        frames = Frames(socket.create_connection(address, timeout=_CONNECT_SECONDS))
    except OSError as error:
        raise Gone(str(error) or type(error).__name__) from error
    greet(frames, token, rank)
    return frames


class _Tasks:
    """What DGL's pool takes for the queue of one of its processes."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames

    def put(self, task: Any, block: bool = True) -> None:  # noqa: ARG002, FBT001, FBT002 - a queue's signature
        # by value: what multiprocessing would send lies in shared memory, where only this machine finds it
        self._frames.send(pickle.dumps(task, protocol=4))


class RemotePool(_Base):  # type: ignore[misc]
    """What of DGL's CustomPool must be another; stands before it among the bases of the class that is used."""

    def __init__(self, lines: Sequence[Frames], names: Sequence[str]) -> None:
        self.num_workers = len(lines)
        self.results: Dict[str, List[Any]] = {}
        self.task_queues = [_Tasks(each) for each in lines]
        self.current_proc_id = 0
        self._blocks: queue.SimpleQueue[Union[bytes, Gone]] = queue.SimpleQueue()
        for line, name in zip(lines, names):
            threading.Thread(target=self._pull, args=(line, name), daemon=True).start()

    def get_result(self, dataloader_name: str, timeout: float = 1800) -> Any:
        """The next batch of a loader. Raises Gone as soon as a sampler is lost, and queue.Empty."""
        waiting = self.results[dataloader_name]
        while not waiting:
            block = self._blocks.get(timeout=timeout)
            if isinstance(block, Gone):
                raise block
            name, batch = pickle.loads(block)
            self.results.setdefault(name, []).append(batch)
        return waiting.pop(0)

    def close(self) -> None:
        """Tell the samplers that this trainer needs them no more; they end when no trainer does."""
        from dgl.distributed.dist_context import MpCommand  # noqa: PLC0415

        for tasks in self.task_queues:
            tasks.put((MpCommand.FINALIZE_POOL, ()))

    def join(self) -> None:
        """Their own pods wait for them."""

    def _pull(self, line: Frames, name: str) -> None:
        try:
            while True:
                self._blocks.put(line.receive())
        except Gone as gone:
            self._blocks.put(Gone("the sampler at %s %s" % (name, gone)))

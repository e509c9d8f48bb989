# SPDX-License-Identifier: Apache-2.0
"""Connections between all processes that make parts together, and what they say to each other all at once."""

from __future__ import annotations

import json
import struct
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from ..inputs.source import Alone

if TYPE_CHECKING:
    import socket

    from ..inputs.source import Array

__all__ = ("Mesh", "PeerLost")

_HEADER = struct.Struct("!IQ")
_LONGEST_META = 1 << 20
_ONCE = 1 << 24  # bytes given to the kernel at once


class PeerLost(ConnectionError):  # noqa: N818
    """Another process of the mesh is gone; what it was is said by whoever watches it."""

    def __init__(self, rank: int, why: str) -> None:
        super().__init__("process %d is gone: %s" % (rank, why))
        self.rank: int = rank


class Mesh(Alone):
    """One process' ends of the connections. Every method must be called by all processes, in one order.

    Nothing here waits with a limit: who computes for long is no failure, who ends closes its connections.
    """

    def __init__(self, rank: int, connections: Dict[int, socket.socket]) -> None:
        """`connections` has one of every other rank."""
        self.rank: int = rank
        self.size: int = len(connections) + 1
        self._connections = connections
        self.sent: int = 0

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def exchange(self, arrays: Sequence[Array]) -> List[Array]:
        """Give `arrays[r]` to each rank r; what each rank gave to this one, own included. Raises PeerLost."""
        got: List[Array] = [None] * self.size
        got[self.rank] = arrays[self.rank]
        for step in range(1, self.size):
            to, source = (self.rank + step) % self.size, (self.rank - step) % self.size
            sender = _Sender(self._connections[to], to, arrays[to])
            sender.start()
            try:
                got[source] = _receive(self._connections[source], source)
            finally:
                sender.join()
            self.sent += sender.finish()
        return got

    def share(self, value: Any) -> List[Any]:
        """Every rank's `value` (anything that JSON holds), by rank."""
        import numpy as np  # noqa: PLC0415

        said = np.frombuffer(json.dumps(value).encode("utf-8"), dtype=np.uint8)
        return [json.loads(text.tobytes().decode("utf-8")) for text in self.exchange([said] * self.size)]

    def gather(self, array: Array, root: int = 0) -> Optional[List[Array]]:
        """Every rank's array at `root`, None elsewhere."""
        got = self.exchange([array if rank == root else array[:0] for rank in range(self.size)])
        return got if self.rank == root else None

    def scatter(self, arrays: Optional[Sequence[Array]], root: int = 0) -> Array:
        """The array that `root` has for this rank; only `root` gives any."""
        import numpy as np  # noqa: PLC0415

        nothing = [np.empty(0, np.int64)] * self.size
        return self.exchange(nothing if arrays is None else arrays)[root]

    def total(self, array: Array) -> Array:
        """The sum of every rank's array."""
        return sum(self.exchange([array] * self.size))

    def largest(self, value: int) -> int:
        return max(int(each) for each in self.share(value))


class _Sender(threading.Thread):
    """Sends while the other direction is read, so that no two processes wait for each other's buffers."""

    def __init__(self, connection: socket.socket, rank: int, array: Array) -> None:
        super().__init__(daemon=True)
        self._connection, self._rank, self._array = connection, rank, array
        self._error: Optional[OSError] = None
        self._sent = 0

    def run(self) -> None:
        import numpy as np  # noqa: PLC0415

        array = np.ascontiguousarray(self._array)
        meta = json.dumps([array.dtype.str, list(array.shape)]).encode("utf-8")
        try:
            self._connection.sendall(_HEADER.pack(len(meta), array.nbytes) + meta)
            data = memoryview(_bytes_of(array))
            for start in range(0, len(data), _ONCE):
                self._connection.sendall(data[start : start + _ONCE])
            self._sent = array.nbytes
        except OSError as error:
            self._error = error

    def finish(self) -> int:
        if self._error is not None:
            raise PeerLost(self._rank, str(self._error)) from self._error
        return self._sent


def _receive(connection: socket.socket, rank: int) -> Array:
    import numpy as np  # noqa: PLC0415

    header = bytearray(_HEADER.size)
    _fill(connection, rank, memoryview(header))
    length, size = _HEADER.unpack(header)
    if length > _LONGEST_META:
        raise PeerLost(rank, "it sent something else than an array")
    meta = bytearray(length)
    _fill(connection, rank, memoryview(meta))
    kind, shape = json.loads(meta.decode("utf-8"))
    array = np.empty(shape, np.dtype(kind))
    if array.dtype.hasobject or array.nbytes != size:
        raise PeerLost(rank, "it sent something else than an array")
    _fill(connection, rank, memoryview(_bytes_of(array)))
    return array


def _bytes_of(array: Array) -> Any:
    import numpy as np  # noqa: PLC0415

    return array.reshape(-1).view(np.uint8)


def _fill(connection: socket.socket, rank: int, room: memoryview) -> None:
    while room:
        try:
            count = connection.recv_into(room)
        except OSError as error:
            raise PeerLost(rank, str(error)) from error
        if not count:
            raise PeerLost(rank, "it closed the connection")
        room = room[count:]

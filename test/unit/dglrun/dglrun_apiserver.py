# SPDX-License-Identifier: Apache-2.0
"""An API server that knows pods, and runs what is asked of them as processes of this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from dglop.dglrun.kube.apiserver import ApiServer

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("Cluster", "cluster")

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class Cluster:
    """What it does wrong, and what it was asked."""

    protocols: tuple[str, ...] = ("v5.channel.k8s.io", "v4.channel.k8s.io")
    denied: int = 0
    """The status of every answer, where it is not to be asked anything."""
    cuts: list[int] = field(default_factory=list)
    """After how many bytes of input the next connections end that have some."""
    spoils: int = 0
    """How many inputs come with another first byte."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    port: int = 0

    @property
    def client(self) -> ApiServer:
        return ApiServer("127.0.0.1", self.port, "t", lambda: "the launcher's token")


@contextmanager
def cluster(**flaws: Any) -> Iterator[Cluster]:
    made = Cluster(**flaws)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made.port = listener.getsockname()[1]
        Thread(target=_accept, args=(listener, made), daemon=True).start()
        yield made
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, made: Cluster) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        Thread(target=_serve, args=(connection, made), daemon=True).start()


def _serve(connection: socket.socket, made: Cluster) -> None:
    with connection:
        head = b""
        while b"\r\n\r\n" not in head:
            block = connection.recv(4096)
            if not block:
                return
            head += block
        first, *lines = head.split(b"\r\n\r\n")[0].decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
        path = urlsplit(first.split(" ")[1])
        query = parse_qs(path.query)
        made.asked.append({"path": path.path, "token": headers.get("authorization"), **query})
        if made.denied:
            _answer(connection, made.denied, {"message": "pods is forbidden: no such right"})
        elif not path.path.endswith("/exec"):
            annotations = {"kubectl.kubernetes.io/default-container": "dgl"}
            _answer(connection, 200, {"metadata": {"annotations": annotations}})
        else:
            offered = [each.strip() for each in headers["sec-websocket-protocol"].split(",")]
            protocol = next(each for each in offered if each in made.protocols)
            accept = hashlib.sha1(headers["sec-websocket-key"].encode() + _GUID).digest()
            lines = [
                "HTTP/1.1 101 Switching Protocols",
                "Upgrade: websocket",
                "Connection: Upgrade",
                f"Sec-WebSocket-Accept: {base64.b64encode(accept).decode()}",
                f"Sec-WebSocket-Protocol: {protocol}",
            ]
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            _Exec(connection, made, query).run()


def _answer(connection: socket.socket, status: int, body: dict[str, Any]) -> None:
    text = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    connection.sendall(head.encode() + text)


class _Exec:
    def __init__(self, connection: socket.socket, made: Cluster, query: dict[str, list[str]]) -> None:
        self.connection = connection
        self.made = made
        self.lock = Lock()
        self.has_input = "stdin" in query
        self.cut = made.cuts.pop(0) if self.has_input and made.cuts else None
        stdin = subprocess.PIPE if self.has_input else subprocess.DEVNULL
        self.process = subprocess.Popen(
            query["command"], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self) -> None:
        Thread(target=self.listen, daemon=True).start()
        pumps = [
            Thread(target=self.pump, args=(channel, stream), daemon=True)
            for channel, stream in ((1, self.process.stdout), (2, self.process.stderr))
        ]
        for each in pumps:
            each.start()
        code = self.process.wait()
        for each in pumps:
            each.join()
        if self.cut is not None:
            return
        causes = [{"reason": "ExitCode", "message": str(code)}]
        failure = {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}
        self.send(3, json.dumps(failure if code else {"status": "Success"}).encode())

    def pump(self, channel: int, stream: Any) -> None:
        with stream:
            for block in iter(lambda: stream.read1(4096), b""):
                self.send(channel, block)

    def send(self, channel: int, block: bytes) -> None:
        payload = bytes([channel]) + block
        head = (
            bytes([0x82, len(payload)])
            if len(payload) < 126
            else struct.pack(">BBH", 0x82, 126, len(payload))
        )
        with self.lock:
            try:
                self.connection.sendall(head + payload)
            except OSError:
                self.process.kill()

    def listen(self) -> None:
        """Frames of the client, into the process; its own end ends the input, as the kubelet does."""
        file, got = self.connection.makefile("rb"), 0
        while True:
            payload = _frame(file)
            if payload is None or payload == b"\xff\x00":
                break
            if not payload or payload[0] != 0:
                continue  # a ping
            block = payload[1:]
            if self.made.spoils and not got:
                self.made.spoils -= 1
                block = bytes([block[0] ^ 0xFF]) + block[1:]
            if self.cut is not None and got + len(block) >= self.cut:
                self._write(block[: self.cut - got])
                self._end_input()
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            got += len(block)
            self._write(block)
        self._end_input()

    def _write(self, block: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(block)
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return  # the command has what it wants

    def _end_input(self) -> None:
        if self.process.stdin is not None:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                return


def _frame(file: Any) -> bytes | None:
    try:
        head = file.read(2)
        if len(head) < 2 or head[0] & 0x0F == 8:
            return None
        size = head[1] & 0x7F
        if size == 126:
            size = int.from_bytes(file.read(2), "big")
        elif size == 127:
            size = int.from_bytes(file.read(8), "big")
        key, payload = file.read(4), file.read(size)
    except OSError:
        return None
    keys = (key * (size // 4 + 1))[:size]
    number = int.from_bytes(payload, "big") ^ int.from_bytes(keys, "big")
    plain = number.to_bytes(size, "big")
    return plain if head[0] & 0x0F == 2 else b""

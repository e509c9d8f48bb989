# SPDX-License-Identifier: Apache-2.0
"""One process in a container of a pod: what goes in, what comes out, how it ended."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Callable, Iterable, Iterator, List, Optional

from .websocket import Broken, WebSocket

if TYPE_CHECKING:
    from .apiserver import ApiServer

__all__ = ("Capture", "Pod", "capture", "run")

STDIN, STDOUT, STDERR, ERROR, END = 0, 1, 2, 3, 255
_BLOCK = 1 << 15
_MUCH = 1 << 18


@dataclass(frozen=True)
class Pod:
    """A container of a pod; without a name of one, the pod's default container."""

    name: str
    namespace: str = ""
    container: str = ""


@dataclass
class Capture:
    """A command's output, kept; for short ones."""

    code: int = -1
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace")

    @property
    def trouble(self) -> str:
        """What it said when it failed, in one line."""
        words = (self.err or self.out).decode("utf-8", "replace").split("\n")
        return " ".join(each.strip() for each in words if each.strip())[-300:] or "no words"


def capture(api: ApiServer, pod: Pod, command: List[str], stdin: Optional[Iterable[bytes]] = None) -> Capture:
    """Run it to its end. Raises Denied, Broken."""
    found = Capture()
    found.code = run(api, pod, command, stdin=stdin, on_out=found.out.extend, on_err=found.err.extend)
    return found


def run(
    api: ApiServer,
    pod: Pod,
    command: List[str],
    *,
    on_out: Callable[[bytes], object],
    on_err: Callable[[bytes], object],
    stdin: Optional[Iterable[bytes]] = None,
    stdin_fd: Optional[int] = None,
) -> int:
    """The exit code of a command in a container, which gets `stdin`, or what is read from `stdin_fd`.

    What it writes is handed on as it comes. Raises Denied where it cannot be started, Broken where the
    connection ended before it: the process may then still run.
    """
    has_input = stdin is not None or stdin_fd is not None
    container = pod.container or _default_container(api, pod)
    link, protocol = api.open_exec(
        pod.name, command, namespace=pod.namespace, container=container, stdin=has_input
    )
    try:
        talk = _Talk(link, protocol.startswith("v5"), on_out, on_err)
        return talk.to_the_end(iter(stdin) if stdin is not None else None, stdin_fd)
    finally:
        link.close()


def _default_container(api: ApiServer, pod: Pod) -> str:
    found = api.pod(pod.name, pod.namespace)
    annotations = found["metadata"].get("annotations") or {}
    return str(annotations.get("kubectl.kubernetes.io/default-container", ""))


class _Talk:
    """The channels of one exec."""

    def __init__(
        self,
        link: WebSocket,
        can_end_input: bool,
        on_out: Callable[[bytes], object],
        on_err: Callable[[bytes], object],
    ) -> None:
        self._link = link
        self._can_end_input = can_end_input
        self._to = {STDOUT: on_out, STDERR: on_err}
        self._status = bytearray()
        self._failure: Optional[Exception] = None

    def to_the_end(self, source: Optional[Iterator[bytes]], fd: Optional[int]) -> int:
        while True:
            source = self._feed(source)
            messages, readable = self._link.pump([] if fd is None or self._is_full() else [fd])
            for message in messages:
                self._take(message)
            if readable and fd is not None:
                block = os.read(fd, _BLOCK)
                self._send(block)
                fd = fd if block else None
            code = self._code()
            if self._failure is not None and (code is not None or self._link.is_closed):
                raise self._failure
            if code is not None:
                return code
            if self._link.is_closed:
                raise Broken("the connection ended before the command did")

    def _feed(self, source: Optional[Iterator[bytes]]) -> Optional[Iterator[bytes]]:
        """Queue what comes from the source, as far as it is wanted now; None once it is at its end."""
        while source is not None and not self._is_full():
            try:
                block = next(source, None)
            except Exception as error:
                if not self._can_end_input:
                    raise
                # what came so far is to arrive, and the command to be over, before anybody goes on
                self._failure, block = error, None
            if block is None:
                self._send(b"")
                return None
            for start in range(0, len(block), _BLOCK):
                self._send(block[start : start + _BLOCK])
        return source

    def _is_full(self) -> bool:
        return self._link.outstanding > _MUCH

    def _send(self, block: bytes) -> None:
        if block:
            self._link.queue(bytes((STDIN,)) + block)
        elif self._can_end_input:
            self._link.queue(bytes((END, STDIN)))

    def _take(self, message: bytes) -> None:
        if not message:
            return
        channel, block = message[0], message[1:]
        if channel == ERROR:
            self._status += block
        elif block and channel in self._to:
            self._to[channel](block)

    def _code(self) -> Optional[int]:
        """The exit code, once the server has said how the command ended. Raises Broken."""
        if not self._status:
            return None
        try:
            status = json.loads(self._status.decode("utf-8"))
        except ValueError:
            return None  # the rest is on its way
        if status.get("status") == "Success":
            return 0
        causes = (status.get("details") or {}).get("causes") or []
        codes = [each.get("message") for each in causes if each.get("reason") == "ExitCode"]
        if codes and str(codes[0]).isdigit():
            return int(codes[0])
        raise Broken(str(status.get("message") or status))

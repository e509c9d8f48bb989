# SPDX-License-Identifier: Apache-2.0
"""A program under measurement: started, waited for, looked at in /proc, ended."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING

from hack.bench.environment import inherited
from hack.bench.errors import BenchError
from hack.bench.figures import Usage, parse_usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

__all__ = ("Program", "free_port", "running")

_ASK_AGAIN_SECONDS = 0.005
_END_SECONDS = 45
_LAST_LINES = 15


def free_port() -> int:
    """A TCP port of the loopback that nobody listens on at this moment."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Program:
    """A running process of ours."""

    def __init__(self, process: asyncio.subprocess.Process, started: float, log: Path) -> None:
        self._process = process
        self._started = started
        self._log = log

    async def ready(self, port: int, *, limit: float = 120.0) -> float:
        """
        Seconds from exec until `/readyz` on the port answers 200.

        Raises:
            BenchError: the program ended, or is not ready within `limit` seconds; with its last lines.
        """
        while not await _answers(port):
            if self._process.returncode is not None:
                raise BenchError(f"it ended with {self._process.returncode}:\n{self._tail()}")
            if time.monotonic() - self._started > limit:
                raise BenchError(f"it is not ready after {limit:.0f} s:\n{self._tail()}")
            await asyncio.sleep(_ASK_AGAIN_SECONDS)
        return time.monotonic() - self._started

    def usage(self) -> Usage:
        """Raises BenchError when the program has ended."""
        proc = Path(f"/proc/{self._process.pid}")
        try:
            stat, status = (proc / "stat").read_text(), (proc / "status").read_text()
        except FileNotFoundError:
            raise BenchError(f"it ended during the measurement:\n{self._tail()}") from None
        return parse_usage(stat, status, os.sysconf("SC_CLK_TCK"))

    async def stop(self) -> None:
        """End it by SIGTERM, and by SIGKILL when it takes too long; wait for its end."""
        if self._process.returncode is None:
            self._process.terminate()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def _tail(self) -> str:
        rows = self._log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        return "\n".join([*(f"    {row[:400]}" for row in rows), f"    (all of it: {self._log})"])


@asynccontextmanager
async def running(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, log: Path
) -> AsyncIterator[Program]:
    """Start the program with its output in `log`; it is ended with the block."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out:
        started = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *argv,
            env={**inherited(), **(env or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=asyncio.subprocess.STDOUT,
        )
    program = Program(process, started, log)
    try:
        yield program
    finally:
        await program.stop()


async def _answers(port: int) -> bool:
    """Whether /readyz answers 200 at this moment."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    try:
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        await writer.drain()
        return b" 200 " in await reader.readline()
    except OSError:
        return False
    finally:
        writer.close()

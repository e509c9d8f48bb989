# SPDX-License-Identifier: Apache-2.0
"""A measured program as a process: its marks are waited for, it is frozen and thawed, killed."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hack.bench.environment import inherited
from hack.bench.errors import BenchError
from hack.bench.figures import Usage, parse_usage
from hack.bench.runtime.marks import Mark, parse_mark

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

__all__ = ("Side", "started")

_LAST_LINES = 15


class Side:
    """A running program of the bench."""

    def __init__(self, process: asyncio.subprocess.Process, began: float, log: Path) -> None:
        self.began = began
        """When it was executed, by the machine's monotonic clock."""
        self._process = process
        self._log = log

    async def until(self, what: str, seconds: float) -> Mark:
        """
        The mark `what`; those before it are passed over.

        Raises:
            TimeoutError: it did not come within `seconds`.
            BenchError: the program ended before; with its last lines.
        """
        if self._process.stdout is None:
            raise BenchError("its output is read by nobody")
        async with asyncio.timeout(seconds):
            while line := await self._process.stdout.readline():
                mark = parse_mark(line.decode())
                if mark is not None and mark.what == what:
                    return mark
        raise BenchError(f"it ended before it was {what}:\n{self._tail()}")

    def usage(self) -> Usage:
        """CPU and memory by now. Raises BenchError when it has ended."""
        proc = Path(f"/proc/{self._process.pid}")
        try:
            stat, status = (proc / "stat").read_text(), (proc / "status").read_text()
            return parse_usage(stat, status, os.sysconf("SC_CLK_TCK"))
        except (FileNotFoundError, KeyError):
            raise BenchError(f"it ended during the measurement:\n{self._tail()}") from None

    def freeze(self) -> None:
        """Let it get no CPU until `thaw`."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> float:
        """Let it go on; when that was, by the machine's monotonic clock."""
        at = time.monotonic()
        self._process.send_signal(signal.SIGCONT)
        return at

    async def kill(self) -> float:
        """End it without a word to anyone, as the loss of its machine would; when that was."""
        at = time.monotonic()
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()
        return at

    def _tail(self) -> str:
        rows = self._log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        return "\n".join([*(f"    {row[:400]}" for row in rows), f"    (all of it: {self._log})"])


@asynccontextmanager
async def started(argv: Sequence[str], *, env: Mapping[str, str], log: Path) -> AsyncIterator[Side]:
    """Execute the program, what it logs going to `log`; it is killed with the block."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as err:
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *argv,
            env={**inherited(), **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=err,
        )
    side = Side(process, began, log)
    try:
        yield side
    finally:
        await side.kill()

# SPDX-License-Identifier: Apache-2.0
"""Background processes known by a file: only what this package started is ever ended by it."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.commands import LAST_LINES, system_path
from hack.cluster.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ("Daemon", "Daemons", "parse_stat", "wait_for")

POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Daemon:
    """What is written about a process: its number, the kernel's time of its start, and its command."""

    name: str
    pid: int
    started: int
    argv: list[str]


def parse_stat(stat: str) -> tuple[str, int]:
    """State letter and start time out of /proc/PID/stat, whose second field may hold blanks and brackets."""
    fields = stat[stat.rindex(")") + 2 :].split()
    return fields[0], int(fields[19])


def wait_for(what: str, check: Callable[[], bool], seconds: float) -> None:
    """Return as soon as `check` holds; ClusterError after `seconds`."""
    limit = time.monotonic() + seconds
    while not check():
        if time.monotonic() > limit:
            raise ClusterError(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(POLL_SECONDS)


def _stat(pid: int) -> tuple[str, int] | None:
    try:
        return parse_stat(Path(f"/proc/{pid}/stat").read_text())
    except (OSError, ValueError):
        return None


class Daemons:
    """The processes whose files lie in `pids` and whose output goes to `logs`."""

    def __init__(self, pids: Path, logs: Path) -> None:
        self._pids = pids
        self._logs = logs

    def known(self) -> list[Daemon]:
        """Every process written down, alive or not."""
        return [daemon for path in sorted(self._pids.glob("*.json")) if (daemon := self._read(path))]

    def alive(self, name: str) -> Daemon | None:
        """The process of this name if it runs; a number that now belongs to another process is not it."""
        daemon = self._read(self._pids / f"{name}.json")
        if daemon is None:
            return None
        with suppress(ChildProcessError):
            os.waitpid(daemon.pid, os.WNOHANG)  # an own child that died would else stay as a zombie
        found = _stat(daemon.pid)
        return daemon if found and found[0] not in "ZX" and found[1] == daemon.started else None

    def start(self, name: str, argv: Sequence[str], env: Mapping[str, str] | None = None) -> Daemon:
        """Start `argv` in a session of its own and write it down; the running one if it runs."""
        running = self.alive(name)
        if running is not None:
            return running
        self._pids.mkdir(parents=True, exist_ok=True)
        self._logs.mkdir(parents=True, exist_ok=True)
        append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        pid = os.posix_spawn(
            argv[0],
            list(argv),
            {**os.environ, "PATH": system_path(), **(env or {})},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(self.log(name)), append, 0o644),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
            setsigdef=[signal.SIGPIPE],  # Python ignores it, and a child would inherit that
        )
        found = _stat(pid)
        daemon = Daemon(name, pid, found[1] if found else 0, list(argv))
        self._write(daemon)
        return daemon

    def stop(self, name: str, seconds: float = 10.0) -> None:
        """End it by SIGTERM, after `seconds` by SIGKILL, and forget it."""
        for number, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, 10.0)):
            daemon = self.alive(name)
            if daemon is None:
                break
            os.kill(daemon.pid, number)
            with suppress(ClusterError):
                wait_for(f"the end of {name}", lambda: self.alive(name) is None, patience)
        if self.alive(name) is not None:
            raise ClusterError(f"{name} survives SIGKILL: it hangs in the kernel, only a reboot ends it")
        (self._pids / f"{name}.json").unlink(missing_ok=True)

    def ready(self, name: str, check: Callable[[], bool], seconds: float = 60.0) -> None:
        """Wait until `check` holds; ClusterError with the last log lines when the process ends or is late."""

        def settled() -> bool:
            return check() or self.alive(name) is None

        try:
            wait_for(name, settled, seconds)
        except ClusterError:
            raise ClusterError(f"{name} is not ready after {seconds:.0f} s:\n{self.tail(name)}") from None
        if self.alive(name) is None:
            raise ClusterError(f"{name} ended right after its start:\n{self.tail(name)}")

    def log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def tail(self, name: str, lines: int = LAST_LINES) -> str:
        """The last lines of its output, and where the rest is."""
        path = self.log(name)
        rows = path.read_text(errors="replace").splitlines()[-lines:] if path.exists() else []
        return "\n".join([*(f"    {row[:400]}" for row in rows), f"    (all of it: {path})"])

    def _write(self, daemon: Daemon) -> None:
        part = self._pids / f".{daemon.name}.part"
        part.write_text(json.dumps(asdict(daemon)))
        part.rename(self._pids / f"{daemon.name}.json")

    def _read(self, path: Path) -> Daemon | None:
        try:
            return Daemon(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            return None  # none, or half of a file from before a crash: its process is found by other means

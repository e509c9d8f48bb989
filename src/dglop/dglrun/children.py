# SPDX-License-Identifier: Apache-2.0
"""Child processes, each with a process group of its own: started, listened to, reaped and ended."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import Callable, Dict, List, Mapping, Optional, Sequence

from .output import Output

__all__ = ("ChildExit", "Children", "Command", "become_reaper", "exit_of")

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Command:
    """A process to start: `name` is what the log lines and last words call it."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]


@dataclass(frozen=True)
class ChildExit:
    """A child's end: `code` is its exit code, or 128 + n with `signal` n."""

    name: str
    code: int
    signal: Optional[int] = None


def become_reaper() -> None:
    """Have orphaned grandchildren (samplers of a killed trainer) come to this process, pid 1 or not."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        # no libc to ask: as pid 1 they come anyway, else their group is killed with their trainer's
        return


class Children:
    """The children of this process. Reaps every process that is or becomes its child, also strangers."""

    def __init__(
        self,
        emit: Callable[[bytes], None],
        *,
        prefixed: bool = True,
        orphaned: Optional[Callable[[int, int], Optional[ChildExit]]] = None,
    ) -> None:
        """`orphaned(pid, status)` is asked about each reaped stranger; its ChildExit counts as a child's."""
        self._orphaned = orphaned
        self._emit = emit
        self._prefixed = prefixed
        self._running: Dict[int, subprocess.Popen[bytes]] = {}
        self._names: Dict[int, str] = {}
        self._groups: List[int] = []
        self._outputs: Dict[str, Output] = {}

    def start(self, command: Command) -> Optional[ChildExit]:
        """Start it; a ChildExit with 126 or 127, as a shell would say, when that is impossible."""
        output = Output("[%s] " % command.name if self._prefixed else "", self._emit)
        self._outputs[command.name] = output
        try:
            process = subprocess.Popen(
                list(command.argv),
                env=dict(command.env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            output.only("cannot start %s: %s" % (command.argv[0], error.strerror or error))
            return ChildExit(command.name, 127 if isinstance(error, FileNotFoundError) else 126)
        self._running[process.pid] = process
        self._names[process.pid] = command.name
        self._groups.append(process.pid)
        assert process.stdout is not None
        threading.Thread(target=output.pump, args=(process.stdout,), daemon=True).start()
        return None

    def running(self) -> Dict[int, str]:
        """The names of the children that have not been reaped, by pid."""
        return {pid: self._names[pid] for pid in self._running}

    def reap(self) -> List[ChildExit]:
        """Collect all that ended by now, without waiting; the children of others are reaped silently."""
        ended: List[ChildExit] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return ended
            if pid == 0:
                return ended
            process = self._running.pop(pid, None)
            if process is None:
                stranger = self._orphaned(pid, status) if self._orphaned else None
                ended += [] if stranger is None else [stranger]
                continue
            end = exit_of(self._names[pid], status)
            process.returncode = end.code  # or Popen would wait for a pid that is gone
            ended.append(end)

    def last_lines(self, name: str, *, patience: float = 1.0) -> List[str]:
        """The last lines that a child wrote; waits `patience` seconds for the rest of an ended one's."""
        output = self._outputs.get(name.partition("/")[0])  # trainer-0/sampler writes with its trainer
        return output.last_lines(patience) if output else []

    def end(self, patience: float, wait: Callable[[float], object]) -> List[ChildExit]:
        """End all of them and what they started: SIGTERM, then SIGKILL to what is left after `patience`.

        `wait(seconds)` must return when SIGCHLD came, or after that time.
        """
        ended = self.reap()
        for pid in self._groups:
            _kill_group(pid, signal.SIGTERM)
        deadline = time.monotonic() + patience
        while self._left() and time.monotonic() < deadline:
            ended += self.reap()
            wait(0.2)
        for pid in self._groups:
            _kill_group(pid, signal.SIGKILL)
        for pid in _children_of(os.getpid()):
            # left their group (setsid) and were orphaned: they have come to us as the reaper
            if pid not in self._running:
                _kill_one(pid, signal.SIGKILL)
        deadline = time.monotonic() + patience
        while self._left() and time.monotonic() < deadline:
            ended += self.reap()
            wait(0.2)
        return ended + self.reap()

    def _left(self) -> bool:
        return bool(self._running) or any(_group_lives(pid) for pid in self._groups)


def exit_of(name: str, status: int) -> ChildExit:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return ChildExit(name, 128 + number, number)
    return ChildExit(name, os.WEXITSTATUS(status))


def _kill_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def _kill_one(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _children_of(parent: int) -> List[int]:
    found: List[int] = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(name))
    return found

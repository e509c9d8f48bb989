# SPDX-License-Identifier: Apache-2.0
"""`partition-parallel`: all processes in one pod, started, watched and ended together."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import uuid
from typing import Dict, List, Mapping, Optional

from .. import contract
from ..children import ChildExit, Children, Command, become_reaper
from ..env import Env
from ..events import ChildrenEnded, Events, Told
from ..machine import cpu_count
from ..output import Stdout
from ..pythonpath import child_env, own_argv
from ..stats import read_stats, stats_text
from .rank import Orders, read_report

__all__ = ("partition_parallel", "process_count")

_MEET_SECONDS = 300.0
_FOLLOW_SECONDS = 5.0


def process_count(env: Env) -> int:
    """As many as the job says, else as this container has CPUs; never more than there are parts."""
    parts = env.integer(contract.ENV_NUM_PARTS, least=1)
    return min(parts, env.integer(contract.ENV_PARTITION_PROCESSES, cpu_count(), least=1))


def partition_parallel(variables: Mapping[str, str]) -> int:
    """Leave the parts of the job's dataset in its parts' folder; the exit code. Raises Refusal.

    It ends as the process did that failed first by itself; the others only lost it.
    """
    env = Env(variables)
    folder, count = env.text(contract.ENV_PARTS_DIR), process_count(env)
    scratch = tempfile.mkdtemp(prefix="dglrun-")
    try:
        code = _Gang(variables, scratch, count).run()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if code == 0:
        Stdout().say(stats_text(read_stats(folder)))
    return code


class _Gang:
    def __init__(self, variables: Mapping[str, str], scratch: str, count: int) -> None:
        self._variables, self._scratch, self._count = variables, scratch, count
        self._events, self._out = Events(), Stdout()
        self._children = Children(self._out)
        self._told = False
        self._patience = Env(variables).seconds(contract.ENV_KILL_SECONDS, 5.0)

    def run(self) -> int:
        self._events.listen_to_signals()
        become_reaper()
        started = [self._children.start(command) for command in self._commands()]
        failed = next((end for end in started if end is not None), None)
        try:
            failed = failed or self._watch()
        finally:
            self._children.end(self._patience, self._events.wait_for_child)
            self._events.ignore_signals()
        if self._told:
            return contract.EXIT_PEER
        return 0 if failed is None else self._tell(failed)

    def _commands(self) -> List[Command]:
        base = child_env(self._variables)
        base.setdefault("DGLBACKEND", "pytorch")
        base.setdefault("OMP_NUM_THREADS", str(max(1, cpu_count() // self._count)))
        run, sockets = uuid.uuid4().hex, [os.path.join(self._scratch, "%d" % i) for i in range(self._count)]
        shared = os.path.join(self._scratch, "graph")
        os.mkdir(shared)
        return [
            Command(
                "process-%d" % rank,
                [sys.executable, *own_argv(), "assemble-process"],
                {
                    **base,
                    **Orders(rank, sockets, run, self._report(rank), _MEET_SECONDS, shared).to_env(),
                },
            )
            for rank in range(self._count)
        ]

    def _report(self, rank: int) -> str:
        return os.path.join(self._scratch, "report-%d" % rank)

    def _watch(self) -> Optional[ChildExit]:
        """How it ended if not well: the first end that is no mere consequence of another."""
        ends: Dict[str, ChildExit] = {}
        deadline: Optional[float] = None
        while len(ends) < self._count:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            event = self._events.get(left)
            if isinstance(event, Told):
                self._told = True
                return None
            if isinstance(event, ChildrenEnded):
                for end in self._children.reap():
                    ends[end.name] = end
            bad = [end for end in ends.values() if end.code != 0]
            first = next((end for end in bad if end.code != contract.EXIT_PEER), None)
            if first is not None or (event is None and bad):
                return first or bad[0]
            if bad and deadline is None:
                # it lost another one, which is still to be seen
                deadline = time.monotonic() + _FOLLOW_SECONDS
        return next((end for end in ends.values() if end.code != 0), None)

    def _tell(self, end: ChildExit) -> int:
        rank = end.name.rpartition("-")[2]
        sentence = read_report(os.path.join(self._scratch, "report-" + rank)).get("sentence")
        how = "was killed by signal %d" % end.signal if end.signal else "ended with exit code %d" % end.code
        self._out.say("%s %s%s" % (end.name, how, ": %s" % sentence if sentence else ""))
        return contract.EXIT_RETRYABLE if end.code == contract.EXIT_PEER else end.code

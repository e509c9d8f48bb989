# SPDX-License-Identifier: Apache-2.0
"""`assemble`: every Worker makes its own part, together with the others; no pod holds the whole graph."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from typing import List, Mapping, Optional, Union

from .. import contract
from ..children import ChildExit, Children, Command, become_reaper
from ..ending import Ending, Refusal, config_refusal
from ..events import ChildrenEnded, Events, Told
from ..failure import DIED, STOPPED, Failure, ending_of, stop_ending
from ..hub import Hub
from ..machine import cpu_count, oom_kills
from ..member import Member
from ..output import Stdout
from ..pythonpath import child_env, own_argv
from ..rendezvous import Who
from ..settings import WorkerSettings
from .rank import Orders, read_report

__all__ = ("assemble",)

PROCESS = "assemble"
_LEAVE_SECONDS = 3.0


def assemble(variables: Mapping[str, str]) -> Ending:
    """Make this Worker's part; see the contract for how it ends. Raises Refusal."""
    settings = WorkerSettings(variables)
    parts = settings.num_parts
    if parts != settings.shape.workers:
        raise config_refusal(
            "%s=%d, %s=%d: with partitionMode MSP every Worker makes one part"
            % (contract.ENV_NUM_PARTS, parts, contract.ENV_NUM_WORKERS, settings.shape.workers)
        )
    events = Events()
    events.listen_to_signals()
    become_reaper()
    scratch = tempfile.mkdtemp(prefix="dglrun-")
    try:
        return _Assembler(variables, settings, events, os.path.join(scratch, "report")).run()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class _Assembler:
    def __init__(
        self, variables: Mapping[str, str], settings: WorkerSettings, events: Events, report: str
    ) -> None:
        self._variables, self._settings, self._events, self._report = variables, settings, events, report
        self._identity, self._workers = settings.identity, settings.shape.workers
        self._out = Stdout()
        self._children = Children(self._out, prefixed=False)
        self._oom = oom_kills()
        self._own_failure: Optional[Failure] = None

    def run(self) -> Ending:
        link = self._link()
        link.start()
        try:
            self._out.say("worker-%d of %d: waiting for the others" % (self._identity.index, self._workers))
            return self._follow(link)
        finally:
            self._children.end(self._settings.kill_seconds, self._events.wait_for_child)
            link.close(_LEAVE_SECONDS)

    def _link(self) -> Union[Hub, Member]:
        identity, settings = self._identity, self._settings
        # no parts yet, so that there is nothing to compare
        me = Who(identity.index, identity.pod, settings.ip, identity.job_uid, identity.attempt, "")
        patience, token = settings.patience, settings.parts_token
        tell, say = self._events.put, self._out.say
        host, port = settings.rendezvous[0], settings.assemble_port
        if identity.index != 0:
            return Member(me, (host, port), patience=patience, token=token, tell=tell, say=say)
        try:
            listener = socket.create_server(("0.0.0.0", port), backlog=128)
        except OSError as error:
            sentence = "worker-0 cannot listen on port %d: %s" % (port, error)
            raise Refusal("ConfigInvalid", contract.EXIT_RETRYABLE, sentence) from error
        return Hub(me, self._workers, listener, patience=patience, token=token, tell=tell, say=say)

    def _follow(self, link: Union[Hub, Member]) -> Ending:
        patience = self._settings.patience
        deadline: Optional[float] = None
        while True:
            event = self._events.get(None if deadline is None else max(0.0, deadline - time.monotonic()))
            if isinstance(event, Told):
                return self._stop(link, event.number)
            if isinstance(event, ChildrenEnded):
                for end in self._children.reap():
                    self._ended(end, link)
            elif isinstance(event, Mapping) and event["t"] == "met":
                self._start([Who.from_json(peer) for peer in event["peers"]], link)
            elif isinstance(event, Mapping) and event["t"] == "verdict":
                return self._judged(Failure.from_json(event["failure"]))
            elif isinstance(event, Mapping) and event["t"] == "alldone":
                self._out.say("all parts are made")
                return Ending(0, read_report(self._report))
            elif event is None and self._own_failure is not None:
                return ending_of(self._own_failure, self._identity.index)
            if self._own_failure is not None and deadline is None:
                # worker-0 answers in this time, or its silence is noticed; longer than that nobody waits
                deadline = time.monotonic() + patience.verdict + 2 * patience.lost

    def _start(self, peers: List[Who], link: Union[Hub, Member]) -> None:
        self._out.say("all have met: " + ", ".join("%s %s" % (who.pod, who.ip) for who in peers))
        identity = self._identity
        addresses = ["%s:%d" % (who.ip, self._settings.assemble_port + 1) for who in peers]
        run = "%s/%d" % (identity.job_uid, identity.attempt)
        orders = Orders(identity.index, addresses, run, self._report, self._settings.patience.rendezvous)
        env = {**child_env(self._variables), **orders.to_env()}
        env.setdefault("DGLBACKEND", "pytorch")
        env.setdefault("OMP_NUM_THREADS", str(cpu_count()))
        end = self._children.start(Command(PROCESS, [sys.executable, *own_argv(), "assemble-process"], env))
        if end is not None:
            self._ended(end, link)

    def _ended(self, end: ChildExit, link: Union[Hub, Member]) -> None:
        if end.code == 0:
            link.send({"t": "done"})
            return
        report = read_report(self._report)
        lines: List[str] = (
            [report["sentence"]] if report else self._children.last_lines(PROCESS, patience=0.5)
        )
        lost_a_peer = end.code == contract.EXIT_PEER
        failure = Failure(
            index=self._identity.index,
            pod=self._identity.pod,
            kind=DIED,
            process=PROCESS,
            exit_code=contract.EXIT_RETRYABLE if lost_a_peer else end.code,
            signal=end.signal,
            oom=end.signal == signal.SIGKILL and oom_kills() > self._oom,
            reason="PeersMissing" if lost_a_peer else report.get("reason"),
            lines=tuple(lines),
        )
        self._own_failure = self._own_failure or failure
        if not lost_a_peer:
            # who only lost another one says nothing: that one's own supervisor, or its silence, will
            link.send({"t": "failed", "failure": failure.to_json(), "age": 0.0})

    def _stop(self, link: Union[Hub, Member], number: int) -> Ending:
        lines = ("told to stop by signal %d" % number,)
        failure = Failure(self._identity.index, self._identity.pod, STOPPED, lines=lines)
        link.send({"t": "failed", "failure": failure.to_json()})
        return stop_ending(PROCESS, number)

    def _judged(self, failure: Failure) -> Ending:
        self._out.say("%s of %s failed: %s" % (failure.process, failure.pod, " ".join(failure.lines)))
        return ending_of(failure, self._identity.index)

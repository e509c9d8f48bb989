# SPDX-License-Identifier: Apache-2.0
"""`worker` and its kin: meet the others, run this pod's servers, samplers or trainers, end once with all."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from . import contract
from .children import ChildExit, Children, become_reaper
from .ending import Ending, Refusal, config_refusal
from .events import ChildrenEnded, Events, Told
from .failure import DIED, STOPPED, Failure, ending_of, stop_ending
from .hub import Hub
from .launch import write_whole
from .layout import LayoutError, check_latched, parts_identity
from .machine import gloo_interface, oom_kills
from .manifest import ManifestError
from .member import Member
from .output import Stdout
from .poster import Poster, http_post
from .progress import ProgressFile
from .pythonpath import child_env
from .rendezvous import Who
from .samplers import SamplerWatch, process_table
from .settings import WorkerSettings
from .verify import verify_part

__all__ = ("worker",)

_LEAVE_SECONDS = 3.0
_LOOK_SECONDS = 2.0
_POST_SECONDS = 8.0


def worker(role: str, argv: Sequence[str], variables: Mapping[str, str]) -> Ending:
    """Run one attempt of this pod; see the contract for how it ends. Raises Refusal."""
    if not argv:
        raise config_refusal("no command to train with: %s -- COMMAND..." % role)
    settings = WorkerSettings(variables, role)
    if settings.verifies:
        # before signals become events: checking a large part takes minutes, and must end when it is told to
        duty = settings.duty
        size = verify_part(settings.parts_dir, duty.part, duty.parts, settings.latched)
        what = "what all need" if duty.part is None else "part %d" % duty.part
        Stdout().say("%s: %d bytes verified" % (what, size))
    events = Events()
    events.listen_to_signals()
    become_reaper()
    return _Worker(role, argv, variables, settings, events).run()


class _Worker:
    def __init__(
        self,
        role: str,
        argv: Sequence[str],
        variables: Mapping[str, str],
        settings: WorkerSettings,
        events: Events,
    ) -> None:
        self._role, self._argv, self._variables = role, argv, variables
        self._settings, self._events = settings, events
        self._identity, self._duty = self._settings.identity, self._settings.duty
        self._out = Stdout()
        self._samplers = SamplerWatch()
        self._children = Children(self._out, orphaned=self._samplers.orphaned)
        self._poster: Optional[Poster] = None
        self._training = set(self._duty.finishes)
        self._own_failure: Optional[Failure] = None
        self._oom = oom_kills()

    def run(self) -> Ending:
        me, config = self._prepare()
        link = self._link(me)
        link.start()
        try:
            peers = self._meet(link)
            if isinstance(peers, Ending):
                return peers
            self._start(peers, config)
            if not self._training:
                link.send({"t": "done"})  # this pod is there for others, who say when all is done
            return self._watch(link)
        finally:
            self._mark_ready(there=False)
            self._children.end(self._settings.kill_seconds, self._events.wait_for_child)
            link.close(_LEAVE_SECONDS)

    def _prepare(self) -> Tuple[Who, str]:
        """Who this is, and the partition config. Raises Refusal."""
        settings, identity = self._settings, self._identity
        try:
            manifest, config = parts_identity(settings.parts_dir, self._duty.parts)
            os.makedirs(settings.run_dir, exist_ok=True)
            for name in (contract.READY_NAME, contract.IP_CONFIG_NAME, contract.PROGRESS_NAME):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(settings.path(name))
            check_latched(manifest, settings.latched)
        except (LayoutError, ManifestError) as error:
            raise Refusal("PartsCorrupt", contract.EXIT_CORRUPT, "no usable parts: %s" % error) from error
        except OSError as error:
            sentence = "%s must be readable and %s writable: %s"
            raise config_refusal(sentence % (settings.parts_dir, settings.run_dir, error)) from error
        me = Who(self._duty.seat, identity.pod, settings.ip, identity.job_uid, identity.attempt, manifest)
        return me, config

    def _link(self, me: Who) -> Union[Hub, Member]:
        settings = self._settings
        patience, token = settings.patience, settings.parts_token
        tell, say = self._events.put, self._out.say
        gang = self._duty.gang
        if me.index != 0:
            return Member(
                me, settings.rendezvous, hub=gang.hub, patience=patience, token=token, tell=tell, say=say
            )
        port = settings.rendezvous[1]
        try:
            listener = socket.create_server(("0.0.0.0", port), backlog=128)
        except OSError as error:
            sentence = "%s cannot listen on port %d: %s" % (gang.hub, port, error)
            raise Refusal("ConfigInvalid", contract.EXIT_RETRYABLE, sentence) from error
        return Hub(me, gang, listener, patience=patience, token=token, tell=tell, say=say)

    def _meet(self, link: Union[Hub, Member]) -> Union[Ending, List[Who]]:
        self._out.say(
            "%s, one of %s, attempt %d: waiting for the others"
            % (self._duty.name, self._duty.gang, self._identity.attempt)
        )
        while True:
            event = self._events.get(None)
            if isinstance(event, Told):
                return self._stop(link, event.number)
            if isinstance(event, ChildrenEnded):
                self._children.reap()
            elif event["t"] == "met":
                return [Who.from_json(peer) for peer in event["peers"]]
            elif event["t"] == "verdict":
                return self._judged(event)

    def _start(self, peers: List[Who], config: str) -> None:
        base = child_env(self._variables)
        base[contract.PROGRESS_FILE_ENV] = self._settings.path(contract.PROGRESS_NAME)
        interface = gloo_interface(self._settings.ip)
        if interface is not None:
            base.setdefault("GLOO_SOCKET_IFNAME", interface)
        listed = self._settings.path(contract.IP_CONFIG_NAME)
        write_whole(listed, self._duty.ip_config(peers))
        self._out.say("all have met: " + ", ".join("%s %s" % (who.pod, who.ip) for who in peers))
        plan = self._duty.commands(self._argv, peers, (listed, config), base)
        for command in plan:
            end = self._children.start(command)
            if end is not None:
                self._events.put(end)
                return
        self._mark_ready(there=True)
        self._out.say("%d children are started" % len(plan))
        if self._duty.seat == 0:
            self._poster = self._make_poster()
            self._poster.start()

    def _make_poster(self) -> Poster:
        settings, post = self._settings, None
        if settings.status_url is not None:
            about = {"jobUID": self._identity.job_uid, "attempt": self._identity.attempt}
            post = http_post(settings.status_url, settings.status_token, about)
        return Poster(ProgressFile(settings.path(contract.PROGRESS_NAME)), post, self._out.say)

    def _watch(self, link: Union[Hub, Member]) -> Ending:
        """Wait for how the attempt ends; a failure of this pod's own is told first."""
        # the hub answers in this time, or its silence is noticed; longer than that nobody waits
        longest = self._settings.patience.verdict + 2 * self._settings.patience.lost
        deadline: Optional[float] = None
        while True:
            event = self._events.get(_LOOK_SECONDS)
            if isinstance(event, Told):
                return self._stop(link, event.number)
            if isinstance(event, Mapping) and event["t"] == "verdict":
                return self._judged(event)
            if isinstance(event, Mapping) and event["t"] == "alldone":
                return self._finish()
            for end in self._ended(event):
                self._child_ended(end, link)
            if self._own_failure is not None and deadline is None:
                deadline = time.monotonic() + longest
            if self._own_failure is not None and deadline is not None and time.monotonic() >= deadline:
                return ending_of(self._own_failure, self._duty.seat)

    def _ended(self, event: object) -> List[ChildExit]:
        """Whose ends an event brings; the kernel's kills first: who died at the same moment died of them."""
        if isinstance(event, ChildExit):
            return [event]
        if isinstance(event, ChildrenEnded):
            return sorted(self._children.reap(), key=lambda end: end.signal != signal.SIGKILL)
        if event is None and self._duty.has_own_samplers:
            return self._samplers.look(process_table(), self._children.running())
        return []

    def _child_ended(self, end: ChildExit, link: Union[Hub, Member]) -> None:
        began = time.monotonic()
        self._out.say(
            "%s ended: %s" % (end.name, "signal %d" % end.signal if end.signal else "exit code %d" % end.code)
        )
        if end.code != 0:
            failure = Failure(
                index=self._duty.seat,
                pod=self._identity.pod,
                kind=DIED,
                process=end.name,
                exit_code=end.code,
                signal=end.signal,
                oom=end.signal == signal.SIGKILL and oom_kills() > self._oom,
                lines=tuple(self._children.last_lines(end.name, patience=0.5)),
            )
            self._own_failure = self._own_failure or failure
            link.send({"t": "failed", "failure": failure.to_json(), "age": time.monotonic() - began})
        elif end.name in self._training:
            self._training.discard(end.name)
            if not self._training:
                # also after a server's error: if all are done within moments it was one of its ending
                link.send({"t": "done"})

    def _stop(self, link: Union[Hub, Member], number: int) -> Ending:
        identity = self._identity
        self._out.say("told to stop by signal %d" % number)
        failure = Failure(
            self._duty.seat, identity.pod, STOPPED, lines=("told to stop by signal %d" % number,)
        )
        link.send({"t": "failed", "failure": failure.to_json()})
        return stop_ending(self._role, number)

    def _judged(self, event: Mapping[str, Any]) -> Ending:
        failure = Failure.from_json(event["failure"])
        self._out.say("the attempt ends: %s of %s %s" % (failure.process, failure.pod, _what(failure)))
        return ending_of(failure, self._duty.seat)

    def _finish(self) -> Ending:
        """All trainers everywhere ended well; the rest end by themselves, or are ended: nobody needs them."""
        self._out.say("all trainers are done")
        deadline = time.monotonic() + self._settings.server_exit_seconds
        while self._children.running():
            left = deadline - time.monotonic()
            if left <= 0 or isinstance(self._events.get(left), Told):
                break
            self._children.reap()
        if self._poster is None:
            return Ending(0)
        latest = self._poster.finish(_POST_SECONDS)
        return Ending(0, {"result": latest} if latest else {})

    def _mark_ready(self, *, there: bool) -> None:
        path = self._settings.path(contract.READY_NAME)
        if there:
            write_whole(path, "")
            return
        with contextlib.suppress(OSError):
            os.unlink(path)


def _what(failure: Failure) -> str:
    if failure.kind == DIED:
        if failure.reason:
            return "%s: %s" % (failure.reason, " ".join(failure.lines))
        return "signal %d" % failure.signal if failure.signal else "exit code %s" % failure.exit_code
    return failure.kind

# SPDX-License-Identifier: Apache-2.0
"""`worker`: meet the others, run this Worker's servers and trainers, and end once with all of them."""

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
from .launch import ip_config, launch_plan, server_names, trainer_names, write_whole
from .layout import LayoutError, check_latched, parts_identity
from .machine import cpu_count, gloo_interface, oom_kills
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


def worker(argv: Sequence[str], variables: Mapping[str, str]) -> Ending:
    """Run one attempt of this Worker; see the contract for how it ends. Raises Refusal."""
    if not argv:
        raise config_refusal("no command to train with: worker -- COMMAND...")
    settings = WorkerSettings(variables)
    if settings.verifies:
        # before signals become events: checking a large part takes minutes, and must end when it is told to
        identity, shape = settings.identity, settings.shape
        size = verify_part(settings.parts_dir, identity.index, shape.workers, settings.latched)
        Stdout().say("part %d: %d bytes verified" % (identity.index, size))
    events = Events()
    events.listen_to_signals()
    become_reaper()
    return _Worker(argv, variables, settings, events).run()


class _Worker:
    def __init__(
        self, argv: Sequence[str], variables: Mapping[str, str], settings: WorkerSettings, events: Events
    ) -> None:
        self._argv, self._variables, self._settings, self._events = argv, variables, settings, events
        self._identity, self._shape = self._settings.identity, self._settings.shape
        self._out = Stdout()
        self._samplers = SamplerWatch()
        self._children = Children(self._out, orphaned=self._samplers.orphaned)
        self._poster: Optional[Poster] = None
        self._training = set(trainer_names(self._shape))
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
            return self._watch(link)
        finally:
            self._mark_ready(there=False)
            self._children.end(self._settings.kill_seconds, self._events.wait_for_child)
            link.close(_LEAVE_SECONDS)

    def _prepare(self) -> Tuple[Who, str]:
        """Who this is, and the partition config. Raises Refusal."""
        settings, identity = self._settings, self._identity
        try:
            manifest, config = parts_identity(settings.parts_dir, self._shape.workers)
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
        me = Who(identity.index, identity.pod, settings.ip, identity.job_uid, identity.attempt, manifest)
        return me, config

    def _link(self, me: Who) -> Union[Hub, Member]:
        settings = self._settings
        patience, token = settings.patience, settings.parts_token
        tell, say = self._events.put, self._out.say
        if me.index != 0:
            return Member(me, settings.rendezvous, patience=patience, token=token, tell=tell, say=say)
        port = settings.rendezvous[1]
        try:
            listener = socket.create_server(("0.0.0.0", port), backlog=128)
        except OSError as error:
            sentence = "worker-0 cannot listen on port %d: %s" % (port, error)
            raise Refusal("ConfigInvalid", contract.EXIT_RETRYABLE, sentence) from error
        workers = self._shape.workers
        return Hub(me, workers, listener, patience=patience, token=token, tell=tell, say=say)

    def _meet(self, link: Union[Hub, Member]) -> Union[Ending, List[Who]]:
        self._out.say(
            "worker-%d of %d, attempt %d: waiting for the others"
            % (self._identity.index, self._shape.workers, self._identity.attempt)
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
        shape, base = self._shape, child_env(self._variables)
        base[contract.PROGRESS_FILE_ENV] = self._settings.path(contract.PROGRESS_NAME)
        interface = gloo_interface(peers[self._identity.index].ip)
        if interface is not None:
            base.setdefault("GLOO_SOCKET_IFNAME", interface)
        listed = self._settings.path(contract.IP_CONFIG_NAME)
        write_whole(listed, ip_config(peers, shape))
        self._out.say("all have met: " + ", ".join("%s %s" % (who.pod, who.ip) for who in peers))
        plan = launch_plan(
            self._argv,
            identity=self._identity,
            shape=shape,
            peers=peers,
            paths=(listed, config),
            threads=max(1, cpu_count() // shape.processes),
            base=base,
        )
        for command in plan:
            end = self._children.start(command)
            if end is not None:
                self._events.put(end)
                return
        self._mark_ready(there=True)
        self._out.say("%d children are started" % len(plan))
        if self._identity.index == 0:
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
        # worker-0 answers in this time, or its silence is noticed; longer than that nobody waits
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
                return ending_of(self._own_failure, self._identity.index)

    def _ended(self, event: object) -> List[ChildExit]:
        """Whose ends an event brings; the kernel's kills first: who died at the same moment died of them."""
        if isinstance(event, ChildExit):
            return [event]
        if isinstance(event, ChildrenEnded):
            return sorted(self._children.reap(), key=lambda end: end.signal != signal.SIGKILL)
        if event is None and self._shape.samplers:
            return self._samplers.look(process_table(), self._children.running())
        return []

    def _child_ended(self, end: ChildExit, link: Union[Hub, Member]) -> None:
        began = time.monotonic()
        self._out.say(
            "%s ended: %s" % (end.name, "signal %d" % end.signal if end.signal else "exit code %d" % end.code)
        )
        if end.code != 0:
            failure = Failure(
                index=self._identity.index,
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
            identity.index, identity.pod, STOPPED, lines=("told to stop by signal %d" % number,)
        )
        link.send({"t": "failed", "failure": failure.to_json()})
        return stop_ending("worker", number)

    def _judged(self, event: Mapping[str, Any]) -> Ending:
        failure = Failure.from_json(event["failure"])
        self._out.say("the attempt ends: %s of %s %s" % (failure.process, failure.pod, _what(failure)))
        return ending_of(failure, self._identity.index)

    def _finish(self) -> Ending:
        """All trainers everywhere ended well; servers end by themselves, or are ended: nobody needs them."""
        self._out.say("all Workers are done")
        deadline = time.monotonic() + self._settings.server_exit_seconds
        servers = set(server_names(self._shape))
        while servers & set(self._children.running().values()):
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

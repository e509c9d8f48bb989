# SPDX-License-Identifier: Apache-2.0
"""The hub's end of the attempt's connections: lets the others in, tells all how it goes."""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional

from . import contract
from .arbiter import Arbiter
from .failure import DIED, LOST, Failure
from .rendezvous import Refused, Who, common_address, different_parts, missing, refusal
from .wire import Channel, Gone, same_proof, sign

if TYPE_CHECKING:
    import socket

    from .gang import Gang

__all__ = ("Hub", "Patience")

Message = Mapping[str, Any]


@dataclass(frozen=True)
class Patience:
    """The seconds of contract's docstring that concern the connections."""

    heartbeat: float
    lost: float
    verdict: float
    rendezvous: float


class Hub:
    """For the supervisor of its own pod it is a link like any other: `send` to it, `tell` is called by it.

    All that it knows is changed by its one thread; the others only put what they hear into its queue.
    """

    def __init__(
        self,
        host: Who,
        gang: Gang,
        listener: socket.socket,
        *,
        patience: Patience,
        token: Callable[[], Optional[str]],
        tell: Callable[[Message], None],
        say: Callable[[str], None],
    ) -> None:
        """`tell` gets what the members get: met, verdict or alldone."""
        self._host, self._gang, self._listener = host, gang, listener
        self._patience, self._token, self._tell, self._say = patience, token, tell, say
        self._arbiter = Arbiter(gang.size, grace=patience.verdict, heartbeat=patience.heartbeat)
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._members: Dict[int, Channel] = {}
        self._who: Dict[int, Who] = {}
        self._met = self._over = self._closing = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        threading.Thread(target=self._accept, daemon=True).start()
        self._thread.start()

    def send(self, message: Message) -> None:
        """A word of the own pod's supervisor."""
        self._queue.put((0, None, message))

    def close(self, patience: float) -> None:
        """Leave last: wait until the members have heard how it ended and gone, at most `patience` seconds."""
        self._queue.put((0, None, {"t": "leave"}))
        self._thread.join(patience)
        self._listener.close()
        for channel in list(self._members.values()):
            channel.close()

    def _run(self) -> None:
        try:
            self._loop()
        finally:
            if not self._closing:
                # a defect of ours: nobody may wait for a hub that is gone
                lines = ("the hub of %s has ended, see its log" % self._gang.hub,)
                host = self._host
                code = contract.EXIT_RETRYABLE
                self._end(Failure(host.index, host.pod, DIED, "rendezvous", code, lines=lines))

    def _loop(self) -> None:
        now = time.monotonic()
        deadline, beat = now + self._patience.rendezvous, now
        self._check_met()
        while not (self._closing and not self._members):
            now = time.monotonic()
            if now >= beat:
                self._broadcast({"t": "beat"})
                beat = now + self._patience.heartbeat
            if not self._met and not self._over and now >= deadline:
                waited = self._patience.rendezvous
                self._end(missing(self._host, sorted(self._who), self._gang, waited))
            self._judge(now)
            times = [beat, self._arbiter.due() or beat, beat if self._met or self._over else deadline]
            with contextlib.suppress(queue.Empty):
                self._handle(*self._queue.get(timeout=max(0.02, min(times) - now)))

    def _handle(self, index: int, channel: Optional[Channel], said: Any) -> None:
        if isinstance(said, Who) and channel is not None:
            self._join(said, channel)
        elif isinstance(said, Gone):
            self._gone(index, channel, said)
        elif channel is self._members.get(index) or index == 0:
            self._hear(index, said)

    def _hear(self, index: int, message: Message) -> None:
        if message["t"] == "done":
            self._arbiter.done(index)
        elif message["t"] == "leave":
            self._closing = True
        elif message["t"] == "failed":
            try:
                failure = Failure.from_json(message["failure"])
                age = float(message.get("age", 0.0))
            except (KeyError, TypeError, ValueError) as error:
                self._say("%s reports a failure that makes no sense: %r" % (self._gang.name(index), error))
                return
            self._arbiter.report(failure, time.monotonic() - max(0.0, age))

    def _join(self, guest: Who, channel: Channel) -> None:
        mixed = different_parts(self._host, guest)
        if self._met or self._over:
            _send(channel, _refused(Refused("this attempt has begun without this pod")))
            channel.close()
            return
        before = self._members.pop(guest.index, None)
        if before is not None:
            before.close()
        self._members[guest.index], self._who[guest.index] = channel, guest
        here = len(self._who) + 1
        self._say("%s has come from %s (%d of %d)" % (guest.pod, guest.ip, here, self._gang.size))
        if mixed is not None:
            self._end(mixed)
        else:
            self._check_met()

    def _check_met(self) -> None:
        if len(self._who) + 1 < self._gang.size:
            return
        guests = [self._who[index] for index in sorted(self._who)]
        same = common_address(self._host, guests)
        if same is not None:
            self._end(same)
            return
        self._met = True
        self._everyone({"t": "met", "peers": [who.to_json() for who in (self._host, *guests)]})

    def _gone(self, index: int, channel: Optional[Channel], gone: Gone) -> None:
        if channel is None or self._members.get(index) is not channel:
            return
        del self._members[index]
        channel.close()
        who = self._who[index]
        if self._over:
            return
        if not self._met:
            del self._who[index]
            self._say("%s has gone again: %s" % (who.pod, gone))
            return
        at = channel.heard + self._patience.heartbeat if gone.silent else time.monotonic()
        self._arbiter.report(Failure(index, who.pod, LOST, lines=("its supervisor %s" % gone,)), at)

    def _judge(self, now: float) -> None:
        if self._over:
            return
        if self._arbiter.all_done:
            self._over = True
            self._everyone({"t": "alldone"})
            return
        verdict = self._arbiter.judge(now, {index: each.heard for index, each in self._members.items()})
        if verdict is not None:
            self._end(verdict)

    def _end(self, verdict: Failure) -> None:
        self._over = True
        self._everyone({"t": "verdict", "failure": verdict.to_json()})

    def _everyone(self, message: Message) -> None:
        self._broadcast(message)
        self._tell(message)

    def _broadcast(self, message: Message) -> None:
        for channel in list(self._members.values()):
            _send(channel, message)

    def _accept(self) -> None:
        while True:
            try:
                connection, address = self._listener.accept()
            except OSError:
                return  # closed: the attempt is over
            threading.Thread(target=self._serve, args=(connection, address[0]), daemon=True).start()

    def _serve(self, connection: socket.socket, address: str) -> None:
        channel = Channel(connection, self._patience.lost)
        try:
            guest = self._greet(channel)
        except Gone as gone:
            self._say("a connection from %s came to nothing: %s" % (address, gone))
            channel.close()
            return
        self._queue.put((guest.index, channel, guest))
        try:
            while True:
                message = channel.receive()
                if message["t"] != "beat":
                    self._queue.put((guest.index, channel, message))
        except Gone as gone:
            self._queue.put((guest.index, channel, gone))

    def _greet(self, channel: Channel) -> Who:
        """Let the other side prove itself, and prove oneself. Raises Gone."""
        nonce, token = secrets.token_hex(16), self._token()
        channel.send({"t": "hello", "nonce": nonce})
        message = channel.receive()
        try:
            guest, nonces = Who.from_json(message["who"]), nonce + str(message["nonce"])
            proof = message["proof"]
        except (KeyError, TypeError, ValueError) as error:
            raise Gone("it does not introduce itself: %r" % error) from error
        answer: Optional[Refused] = refusal(self._host, guest, self._gang)
        if not same_proof(sign(token, "join", nonces, guest.to_json()), proof):
            answer = Refused("the tokens differ: this is %s of another job" % self._gang.hub)
        if answer is not None:
            channel.send(_refused(answer))
            raise Gone("%s is refused: %s" % (guest.pod, answer.sentence))
        channel.send({"t": "welcome", "proof": sign(token, "welcome", nonces, {})})
        return guest


def _refused(answer: Refused) -> Dict[str, Any]:
    return {"t": "refused", "sentence": answer.sentence, "final": answer.final}


def _send(channel: Channel, message: Message) -> None:
    """Send to one of many; if it is gone its reader says so, so here that is nobody's concern."""
    with contextlib.suppress(Gone):
        channel.send(message)

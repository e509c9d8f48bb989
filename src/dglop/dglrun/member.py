# SPDX-License-Identifier: Apache-2.0
"""The others' end of the attempt's connections: finds the hub and keeps the line to it."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Tuple

from . import contract
from .failure import DIED, LOST, Failure
from .wire import Channel, Gone, same_proof, sign

if TYPE_CHECKING:
    from .hub import Patience
    from .rendezvous import Who

__all__ = ("Member",)

Message = Mapping[str, Any]
_CONNECT_SECONDS = 5.0
_RETRY_SECONDS = 1.0


class Member:
    """A link to the hub: `tell` is called with met, then verdict or alldone, or only with verdict."""

    def __init__(
        self,
        me: Who,
        address: Tuple[str, int],
        *,
        hub: str,
        patience: Patience,
        token: Callable[[], Optional[str]],
        tell: Callable[[Message], None],
        say: Callable[[str], None],
    ) -> None:
        """`hub` is what the pod is called that has it, as long as it has not said so itself."""
        self._me, self._address, self._patience = me, address, patience
        self._token, self._tell, self._say = token, tell, say
        self._channel: Optional[Channel] = None
        self._stop = threading.Event()
        self._met = self._told = False
        self._hub = self._host = hub

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def send(self, message: Message) -> None:
        """To the hub; if it is gone `tell` is going to hear of it."""
        if self._channel is not None:
            with contextlib.suppress(Gone):
                self._channel.send(message)

    def close(self, patience: float) -> None:
        del patience
        self._stop.set()
        if self._channel is not None:
            self._channel.close()

    def _run(self) -> None:
        try:
            self._loop()
        finally:
            if not self._told and not self._stop.is_set():
                self._lost("can be heard no more: the link has ended, see the log")  # a defect of ours

    def _loop(self) -> None:
        deadline = time.monotonic() + self._patience.rendezvous
        said = ""
        while not self._stop.is_set():
            trouble = self._try_to_attend()
            if trouble is None:
                return
            if self._met:
                self._lost(trouble)
                return
            if trouble != said:
                self._say("%s at %s:%d: %s; trying again" % (self._hub, *self._address, trouble))
                said = trouble
            if time.monotonic() > deadline:
                self._never(trouble)
                return
            self._stop.wait(_RETRY_SECONDS)

    def _try_to_attend(self) -> Optional[str]:
        """What went wrong; None: the attempt is over, and `tell` has heard how it ended."""
        try:
            self._attend()
        except _Final as final:
            failure = Failure(0, self._host, DIED, "rendezvous", reason="AttemptOver", lines=(str(final),))
            self._tell_failure(failure)
        except (Gone, OSError) as error:
            return str(error) or type(error).__name__
        return None

    def _attend(self) -> None:
        """One connection, from the greeting to how the attempt ended. Raises Gone, OSError, _Final."""
        # resolved anew every time: the name may still point to a pod of an older attempt
        connection = socket.create_connection(self._address, timeout=_CONNECT_SECONDS)
        channel = Channel(connection, self._patience.lost)
        try:
            self._greet(channel)
            self._channel = channel
            stop = threading.Event()
            threading.Thread(target=self._beat, args=(channel, stop), daemon=True).start()
            try:
                self._listen(channel)
            finally:
                stop.set()
        except Gone:
            channel.close()
            raise

    def _greet(self, channel: Channel) -> None:
        hello = channel.receive()
        nonce, token = secrets.token_hex(16), self._token()
        nonces = str(hello.get("nonce")) + nonce
        who = self._me.to_json()
        channel.send({"t": "join", "nonce": nonce, "who": who, "proof": sign(token, "join", nonces, who)})
        answer = channel.receive()
        if answer["t"] == "refused":
            channel.close()
            if answer.get("final"):
                raise _Final(str(answer.get("sentence")))
            raise Gone(str(answer.get("sentence")))
        if not same_proof(sign(token, "welcome", nonces, {}), answer.get("proof")):
            raise Gone("it does not know this job's token")

    def _listen(self, channel: Channel) -> None:
        while True:
            message = channel.receive()
            if message["t"] == "met":
                self._met = True
                self._host = str(message["peers"][0]["pod"])
            if message["t"] == "refused":
                raise Gone(str(message.get("sentence")))
            if message["t"] in ("verdict", "alldone"):
                self._told = True
            if message["t"] != "beat":
                self._tell(message)
            if self._told:
                return

    def _beat(self, channel: Channel, stop: threading.Event) -> None:
        while not stop.wait(self._patience.heartbeat):
            try:
                channel.send({"t": "beat"})
            except Gone:
                return  # the reader hears it too

    def _lost(self, why: str) -> None:
        if not self._stop.is_set():
            self._tell_failure(Failure(0, self._host, LOST, lines=("its supervisor %s" % why,)))

    def _never(self, why: str) -> None:
        sentence = "%s at %s:%d could not be met in %g s: %s" % (
            self._hub,
            *self._address,
            self._patience.rendezvous,
            why,
        )
        code = contract.EXIT_RETRYABLE
        me = self._me
        self._tell_failure(
            Failure(me.index, me.pod, DIED, "rendezvous", code, reason="PeersMissing", lines=(sentence,))
        )

    def _tell_failure(self, failure: Failure) -> None:
        self._told = True
        self._tell({"t": "verdict", "failure": failure.to_json()})


class _Final(Exception):  # noqa: N818
    """The hub says that this pod's time is over."""

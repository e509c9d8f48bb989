# SPDX-License-Identifier: Apache-2.0
"""How the processes of a mesh find each other: each listens, and connects to those of lower rank."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from typing import Dict, List, Optional, Sequence, Tuple

from ..contract import EXIT_RETRYABLE
from ..ending import Refusal
from ..wire import Channel, Gone, same_proof, sign
from .mesh import Mesh, PeerLost

__all__ = ("connect_mesh",)

_GREETING_SECONDS = 10.0
_RETRY_SECONDS = 0.05
_BEGUN = b"!"


def connect_mesh(
    rank: int, addresses: Sequence[str], *, run: str, token: Optional[str] = None, patience: float = 60.0
) -> Mesh:
    """A mesh of as many processes as there are `addresses`: a path of a socket, or `host:port`.

    `run` names this one making of parts: a process of another one is not let in; nor is one that does not
    know `token`. Raises PeerLost after `patience` seconds, Refusal where the own address cannot be had.
    """
    deadline = time.monotonic() + patience
    connections: Dict[int, socket.socket] = {}
    listener = _listen(addresses[rank], len(addresses))
    try:
        for peer in range(rank):
            connections[peer] = _connect(rank, peer, addresses[peer], (run, token), deadline)
        missing = set(range(rank + 1, len(addresses)))
        while missing:
            peer, connection = _accept(listener, missing, (run, token), deadline)
            connections[peer] = connection
            missing.discard(peer)
    except BaseException:
        for connection in connections.values():
            connection.close()
        raise
    finally:
        listener.close()
        if _is_path(addresses[rank]):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(addresses[rank])
    return Mesh(rank, connections)


def _is_path(address: str) -> bool:
    return address.startswith("/")


def _port_of(address: str) -> Tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _listen(address: str, backlog: int) -> socket.socket:
    if not _is_path(address):
        try:
            return socket.create_server(_port_of(address), backlog=backlog)
        except OSError as error:
            sentence = "cannot listen at %s, where the other Workers look for this one: %s" % (address, error)
            raise Refusal("ConfigInvalid", EXIT_RETRYABLE, sentence) from error
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(backlog)
    return listener


def _connect(
    rank: int, peer: int, address: str, known: Tuple[str, Optional[str]], deadline: float
) -> socket.socket:
    while True:
        try:
            connection = _dial(address)
        except OSError as error:
            why = "%s: %s" % (address, error)
        else:
            try:
                _introduce(connection, rank, known)
            except Gone as gone:
                connection.close()
                why = "%s: %s" % (address, gone)
            else:
                return _ready(connection)
        if time.monotonic() >= deadline:
            raise PeerLost(peer, "it could not be met, %s" % why)
        time.sleep(_RETRY_SECONDS)


def _dial(address: str) -> socket.socket:
    if not _is_path(address):
        return socket.create_connection(_port_of(address), timeout=_GREETING_SECONDS)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection


def _introduce(connection: socket.socket, rank: int, known: Tuple[str, Optional[str]]) -> None:
    run, token = known
    channel, nonce = Channel(connection, _GREETING_SECONDS), secrets.token_hex(16)
    nonces = str(channel.receive().get("nonce")) + nonce
    who = {"rank": rank, "run": run}
    channel.send({"t": "join", "nonce": nonce, "who": who, "proof": sign(token, "mesh", nonces, who)})
    answer = channel.receive()
    if answer["t"] != "welcome" or not same_proof(sign(token, "met", nonces, {}), answer.get("proof")):
        raise Gone(str(answer.get("sentence", "it does not know this job's token")))
    channel.send({"t": "begin"})
    # a single byte by hand: a channel reads as much as there is, also what the other side sends next
    try:
        began = connection.recv(1)
    except OSError as error:
        raise Gone(str(error)) from error
    if began != _BEGUN:
        raise Gone("it does not begin")


def _accept(
    listener: socket.socket, missing: "set[int]", known: Tuple[str, Optional[str]], deadline: float
) -> Tuple[int, socket.socket]:
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            absent: List[int] = sorted(missing)
            raise PeerLost(absent[0], "it did not come in time, still missing: %s" % absent)
        listener.settimeout(left)
        try:
            connection, _ = listener.accept()
        except socket.timeout:
            continue
        try:
            return _greet(connection, missing, known), _ready(connection)
        except Gone:
            # a stranger, or a peer of an earlier life that comes again
            connection.close()


def _greet(connection: socket.socket, missing: "set[int]", known: Tuple[str, Optional[str]]) -> int:
    run, token = known
    channel, nonce = Channel(connection, _GREETING_SECONDS), secrets.token_hex(16)
    channel.send({"t": "hello", "nonce": nonce})
    said = channel.receive()
    try:
        who, nonces, proof = dict(said["who"]), nonce + str(said["nonce"]), said["proof"]
        rank = int(who["rank"])
    except (KeyError, TypeError, ValueError) as error:
        raise Gone("it does not introduce itself: %r" % error) from error
    if not same_proof(sign(token, "mesh", nonces, who), proof) or who.get("run") != run:
        channel.send({"t": "refused", "sentence": "this is of another job or attempt"})
        raise Gone("it is of another job or attempt")
    if rank not in missing:
        channel.send({"t": "refused", "sentence": "process %d has come already" % rank})
        raise Gone("process %d has come already" % rank)
    channel.send({"t": "welcome", "proof": sign(token, "met", nonces, {})})
    if channel.receive()["t"] != "begin":
        raise Gone("it does not begin")
    try:
        connection.sendall(_BEGUN)
    except OSError as error:
        raise Gone(str(error)) from error
    return rank


def _ready(connection: socket.socket) -> socket.socket:
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return connection

# SPDX-License-Identifier: Apache-2.0
"""Sockets that notice a dead peer."""

from __future__ import annotations

import socket
from typing import Any

__all__ = ("keepalive_socket",)

_IDLE_SECONDS = 30
_INTERVAL_SECONDS = 15
_PROBES = 3
_UNACKED_MILLISECONDS = 60_000


def keepalive_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket for `address` (an addrinfo) that fails within about a minute of silence below TCP.

    Without it a connection whose peer vanished lives for as long as the kernel retransmits, which is
    up to half an hour (kubernetes/kubernetes#87615).
    """
    family, type_, proto, *_ = address
    sock = socket.socket(family, type_, proto)
    try:
        _set_options(sock)
    except OSError:
        sock.close()
        raise
    return sock


def _set_options(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", _IDLE_SECONDS),
        ("TCP_KEEPINTVL", _INTERVAL_SECONDS),
        ("TCP_KEEPCNT", _PROBES),
        ("TCP_USER_TIMEOUT", _UNACKED_MILLISECONDS),
    ):
        option = getattr(socket, name, None)  # Linux has them all; others some
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)

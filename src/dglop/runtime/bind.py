# SPDX-License-Identifier: Apache-2.0
"""Addresses to listen on, as people write them."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated

from pydantic import AfterValidator

from dglop.errors import ConfigError

__all__ = ("Bind", "parse_bind")

_PORTS = 65535
_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")


def parse_bind(bind: str) -> tuple[str | None, int] | None:
    """
    Host and port of `host:port` or `:port`; a host of None is every address; None for "0" or "".

    Raises ConfigError for anything else; whether the host is one of this machine's is not looked at.
    """
    if bind in ("", "0"):
        return None
    host, colon, port = bind.rpartition(":")
    if not colon or not _is_port(port) or not _is_host(host):
        raise ConfigError(
            f"{bind!r} is no address to listen on; write :8080, 127.0.0.1:8080, [::1]:8080 or 0 for none"
        )
    return host.strip("[]") or None, int(port)


def _is_port(port: str) -> bool:
    return port.isascii() and port.isdecimal() and int(port) <= _PORTS


def _is_host(host: str) -> bool:
    if not host:
        return True
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else ""
    if bare or ":" in host:
        return _is_ip(bare, 6)
    # A name that ends in a number is meant as an IPv4 address, and no name server is asked for it.
    return _is_ip(host, 4) if host.rpartition(".")[2].isdecimal() else bool(_NAME.fullmatch(host))


def _is_ip(text: str, version: int) -> bool:
    try:
        return ip_address(text).version == version
    except ValueError:
        return False


def _checked(bind: str) -> str:
    try:
        parse_bind(bind)
    except ConfigError as problem:
        raise ValueError(str(problem)) from problem
    return bind


Bind = Annotated[str, AfterValidator(_checked)]
"""A setting that is an address to listen on."""

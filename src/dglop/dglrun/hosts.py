# SPDX-License-Identifier: Apache-2.0
"""Waiting until the hosts of an MPI host file have addresses, as before mpirun calls them by name."""

from __future__ import annotations

import re
import socket
import time
from typing import Callable, List

__all__ = ("await_hosts", "hosts_of")

_PAUSE_SECONDS = 1.0


def hosts_of(text: str) -> List[str]:
    """The hosts of a host file, `host slots=2` or `host:2` a line, in their order."""
    return [re.split(r"[\s:]", line.strip(), maxsplit=1)[0] for line in text.splitlines() if line.strip()]


def has_address(host: str) -> bool:
    try:
        socket.getaddrinfo(host, None)
    except OSError:
        return False
    return True


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def await_hosts(
    hosts: List[str],
    is_there: Callable[[str], bool] = has_address,
    pause: Callable[[float], None] = time.sleep,
    say: Callable[[str], None] = _say,
) -> None:
    """Return when every host has an address; how long that may take is for the job's deadlines to say."""
    missing: List[str] = []
    while True:
        left = [host for host in hosts if not is_there(host)]
        if not left:
            say("all %d hosts have addresses" % len(hosts))
            return
        if left != missing:
            missing = left
            say("waiting for the address of %s" % ", ".join(left))
        pause(_PAUSE_SECONDS)

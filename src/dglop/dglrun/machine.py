# SPDX-License-Identifier: Apache-2.0
"""What this container has: its address, the interface of it, its CPUs, and whether memory ran out."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
from typing import Optional

from . import contract
from .ending import config_refusal

__all__ = ("cpu_count", "gloo_interface", "ipv4", "oom_kills")

_SIOCGIFADDR = 0x8915


def ipv4(text: str) -> str:
    """The first IPv4 address of a comma list. Raises Refusal: DGL reads nothing but IPv4 numbers."""
    for part in text.split(","):
        with contextlib.suppress(OSError):
            socket.inet_pton(socket.AF_INET, part.strip())
            return part.strip()
    raise config_refusal("%s=%s: DGL needs an IPv4 address, this pod has none" % (contract.ENV_POD_IP, text))


def gloo_interface(ip: str) -> Optional[str]:
    """The interface that gloo must be told of, None where it finds `ip` by the host's own name."""
    with contextlib.suppress(OSError):
        found = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        if any(item[4][0] == ip for item in found):
            return None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            with contextlib.suppress(OSError):
                answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)
                if socket.inet_ntoa(answer[20:24]) == ip:
                    return name
    return None


def cpu_count() -> int:
    """CPUs that this container may use, by affinity and quota; at least 1."""
    allowed = float(len(os.sched_getaffinity(0)))
    quota = _read("/sys/fs/cgroup/cpu.max").split()
    if len(quota) == 2 and quota[0].isdigit():
        allowed = min(allowed, int(quota[0]) / int(quota[1]))
    old = _read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), _read("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
    if old[0].isdigit() and old[1].isdigit():
        allowed = min(allowed, int(old[0]) / int(old[1]))
    return max(1, int(allowed))


def oom_kills() -> int:
    """How many processes of this container the kernel has killed for memory; 0 where it does not say."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        for line in _read(path).splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill" and count.isdigit():
                return int(count)
    return 0


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return ""

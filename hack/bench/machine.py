# SPDX-License-Identifier: Apache-2.0
"""What the figures were measured on."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from hack.bench.section import Section

if TYPE_CHECKING:
    from hack.stack import Stack

__all__ = ("describe", "describe_cluster", "memory_bytes", "processor")


def memory_bytes(meminfo: str) -> int:
    """The machine's memory by the text of /proc/meminfo."""
    return int(meminfo.split("MemTotal:")[1].split(maxsplit=1)[0]) * 1024


def processor(cpuinfo: str) -> str:
    """The processor's name by the text of /proc/cpuinfo; empty where it tells none."""
    named = (row for row in cpuinfo.splitlines() if row.startswith("model name"))
    return next(named, ":").partition(":")[2].strip()


def describe() -> Section:
    """Cores, memory and the versions of what runs on it."""
    cores = len(os.sched_getaffinity(0))
    memory = memory_bytes(Path("/proc/meminfo").read_text())
    rows = [
        ("cores", f"{cores} ({processor(Path('/proc/cpuinfo').read_text()) or platform.machine()})"),
        ("memory", f"{memory / 2**30:.0f} GiB"),
        ("kernel", platform.release()),
        ("Python", platform.python_version()),
        ("dglop", f"{version('dglop')} ({_commit()})"),
        ("aiohttp, kubernetes", f"{version('aiohttp')}, {version('kubernetes')}"),
    ]
    return Section(
        "Machine", ("what", "is"), rows, ("API server, etcd, operator and this program share the cores.",)
    )


def describe_cluster(stack: Stack) -> Section:
    """The Kubernetes of the figures that need a cluster."""
    server = json.loads(stack.run("version", "-o", "json"))["serverVersion"]["gitVersion"]
    return Section("Cluster", ("what", "is"), [("Kubernetes", server)])


def _commit() -> str:
    asked = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "no git here"

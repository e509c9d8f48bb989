# SPDX-License-Identifier: Apache-2.0
"""What must hold before a local cluster is begun; each lack is a sentence that says what to do."""

from __future__ import annotations

import os
import platform
import shutil
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.errors import ClusterError
from hack.cluster.image import architecture
from hack.cluster.settings import variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hack.cluster.settings import Ports, Settings

__all__ = (
    "Listener",
    "check_disk",
    "check_length",
    "check_machine",
    "check_networks",
    "check_ports",
    "listeners",
    "occupied",
    "parse_listeners",
)

GIB = 2**30
LISTEN = "0A"


@dataclass(frozen=True)
class Listener:
    """A TCP port that is listened on, and by whom where that can be seen."""

    port: int
    inode: int


def check_machine(system: str, machine: str, uid: int) -> None:
    """Linux on a known processor, as root."""
    elsewhere = "install Docker (then kind is used) or set DGLOP_KUBECONFIG to a cluster that you have"
    if system != "Linux":
        raise ClusterError(f"a local cluster needs Linux, and this is {system}: {elsewhere}")
    if not architecture(machine):
        raise ClusterError(
            f"a local cluster needs an amd64 or arm64 processor, and this is {machine}: {elsewhere}"
        )
    if uid != 0:
        raise ClusterError(f"a local cluster needs root: run the same command with sudo, or {elsewhere}")


def check_disk(folder: Path, needed: int) -> None:
    """At least `needed` bytes free where `folder` lies or will lie."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < needed:
        raise ClusterError(
            f"{folder} has {free / GIB:.1f} GiB free and {needed / GIB:.1f} GiB are needed: "
            "make room, or set DGLOP_CACHE to a folder on a larger disk"
        )


def check_length(socket: Path) -> None:
    """The path of a socket short enough for the kernel, which takes 107 bytes."""
    longest = f"{socket}.ttrpc"  # containerd's second one, beside the first
    if len(longest.encode()) > 107:
        raise ClusterError(f"the path {longest} is too long for a socket: set DGLOP_CACHE to a shorter one")


def parse_listeners(table: str) -> list[Listener]:
    """The listening sockets out of /proc/net/tcp or tcp6."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return [Listener(int(row[1].split(":")[1], 16), int(row[9])) for row in rows if row[3] == LISTEN]


def listeners() -> list[Listener]:
    """The listening sockets of this machine."""
    tables = [path for path in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")) if path.exists()]
    return [found for path in tables for found in parse_listeners(path.read_text())]


def occupied(ports: Mapping[str, int], found: Iterable[Listener]) -> dict[str, Listener]:
    """Which of the wanted ports are taken."""
    by_port = {listener.port: listener for listener in found}
    return {name: by_port[port] for name, port in ports.items() if port in by_port}


def check_ports(ports: Ports, skip: frozenset[str] = frozenset()) -> None:
    """Every port free but those of `skip`; else who has it and how to choose another."""
    wanted = {name: port for name, port in vars(ports).items() if name not in skip}
    taken = occupied(wanted, listeners())
    if taken:
        rows = [
            f"port {listener.port} ({name.replace('_', ' ')}) is taken by {_owner(listener.inode)}: "
            f"end it, or choose another port with {variable(name)}"
            for name, listener in taken.items()
        ]
        raise ClusterError("\n".join(rows))


def parse_routes(table: str) -> list[tuple[str, IPv4Network]]:
    """Interface and network of each route out of /proc/net/route, those to everywhere left out."""

    def network(row: list[str]) -> IPv4Network:
        base, mask = (int.from_bytes(bytes.fromhex(row[index])[::-1], "big") for index in (1, 7))
        return IPv4Network((base, mask.bit_count()))

    found = [(row[0], network(row)) for row in map(str.split, table.splitlines()[1:]) if row]
    return [(interface, network) for interface, network in found if network.prefixlen]


def check_networks(settings: Settings) -> None:
    """The cluster's addresses free on this machine; else who has them and how to choose others."""
    routes = parse_routes(Path("/proc/net/route").read_text())
    for name, wanted in (("DGLOP_POD_NET", settings.pods), ("DGLOP_SERVICE_NET", settings.services)):
        for interface, network in routes:
            if interface != settings.bridge and network.overlaps(wanted):
                raise ClusterError(
                    f"{wanted} is wanted for the cluster, and {network} is behind {interface}: "
                    f"remove that, or choose another network with {name}"
                )


def _owner(inode: int) -> str:
    """The process that holds the socket."""
    wanted = f"socket:[{inode}]"
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # processes end while they are looked at
            for descriptor in (process / "fd").iterdir():
                if str(descriptor.readlink()) == wanted:
                    return f"`{(process / 'comm').read_text().strip()}` (process {process.name})"
    return "a process that cannot be seen from here"


def this_machine() -> None:
    """check_machine for the machine we run on."""
    check_machine(platform.system(), platform.machine(), os.geteuid())

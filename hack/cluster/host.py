# SPDX-License-Identifier: Apache-2.0
"""What the kernel keeps for the cluster: bridge, masking rule, cgroup, mounts; made and removed here."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.commands import output, succeeds
from hack.cluster.errors import ClusterError
from hack.cluster.process import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hack.cluster.paths import Paths
    from hack.cluster.settings import Settings

__all__ = ("mounts_below", "prepare_host", "release_host")

CGROUPS = Path("/sys/fs/cgroup")
BRIDGE_MAC = "02:64:67:6c:6f:70"  # fixed, else it changes with the pods that come and go
PROXY_TABLES = (("ip", "kube-proxy"), ("ip6", "kube-proxy"))


def mounts_below(mountinfo: str, folder: str) -> list[str]:
    """Mount points at or below `folder` out of /proc/self/mountinfo, the innermost and latest first."""
    points = [line.split()[4] for line in mountinfo.splitlines() if line]
    plain = [point.encode().decode("unicode_escape") for point in points]
    return [point for point in reversed(plain) if point == folder or point.startswith(folder + "/")]


def prepare_host(settings: Settings) -> None:
    """Make the bridge, the masking rule and the cgroup; what is there already stays."""
    bridge = settings.bridge
    if not succeeds(["ip", "link", "show", bridge]):
        output(["ip", "link", "add", bridge, "address", BRIDGE_MAC, "type", "bridge"])
    output(["ip", "address", "replace", f"{settings.gateway}/{settings.pods.prefixlen}", "dev", bridge])
    output(["ip", "link", "set", bridge, "up"])
    _sysctl("net/ipv4/ip_forward", "1")
    if not Path("/proc/sys/net/bridge").exists() and not succeeds(["modprobe", "br_netfilter"]):
        raise ClusterError(
            "the kernel does not filter bridged packets, so services would not be reached from pods: "
            "load or build in its module br_netfilter"
        )
    _sysctl("net/bridge/bridge-nf-call-iptables", "1")
    _mask(settings)
    for hierarchy in hierarchies():
        _make_cgroup(hierarchy, settings.name)


def release_host(paths: Paths, settings: Settings) -> None:
    """End the pods' processes and take away mounts, rules, bridge and cgroups; nothing there is no error."""
    wait_for("the end of the pods' processes", lambda: not _kill_pods(settings.name), 30)
    _kill_shims(str(paths.containerd_socket))
    wait_for("the mounts to go", lambda: not _unmount(paths.cluster, paths.containerd), 30)
    for family, table in (*PROXY_TABLES, ("ip", settings.name)):
        succeeds(["nft", "delete", "table", family, table])
    if succeeds(["ip", "link", "show", settings.bridge]):
        output(["ip", "link", "delete", settings.bridge])
    for hierarchy in hierarchies():
        for folder in cgroup_tree(hierarchy / settings.name):
            with suppress(FileNotFoundError):
                folder.rmdir()
    _forget_results(settings.name)


def hierarchies() -> list[Path]:
    """The cgroup trees of this machine: one for v2, one for each controller for v1."""
    mounted = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(fields[1]) for fields in mounted if fields[2] in {"cgroup", "cgroup2"}]


def cgroup_tree(top: Path) -> list[Path]:
    """A cgroup and all below it, the innermost first."""
    return [Path(folder) for folder, _, _ in os.walk(top, topdown=False)]


def _make_cgroup(hierarchy: Path, name: str) -> None:
    group = hierarchy / name
    group.mkdir(exist_ok=True)
    for setting in ("cpuset.cpus", "cpuset.mems"):  # v1: empty in a new group, which then takes no process
        own = group / setting
        if own.exists() and not own.read_text().strip():
            own.write_text((hierarchy / setting).read_text())
    available = hierarchy / "cgroup.controllers"
    if available.exists():
        wanted = " ".join(f"+{controller}" for controller in available.read_text().split())
        for folder in (hierarchy, group):
            with suppress(OSError):  # one that cannot be had is missed by the kubelet, in clearer words
                (folder / "cgroup.subtree_control").write_text(wanted)


def _kill_pods(cgroup: str) -> int:
    """Kill what runs in the cgroup; how many processes there were."""
    pids = {pid for hierarchy in hierarchies() for pid in _members(cgroup_tree(hierarchy / cgroup))}
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


def _kill_shims(socket: str) -> None:
    """End the shims of our containerd: they outlive it, and name its socket in their command."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            argv = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if "containerd-shim" in argv[0] and socket in argv:
                os.kill(int(process.name), signal.SIGKILL)


def _members(folders: Iterable[Path]) -> list[int]:
    found: list[int] = []
    for folder in folders:
        with suppress(OSError):
            found += [int(pid) for pid in (folder / "cgroup.procs").read_text().split() if pid != "0"]
    return found


def _unmount(*folders: Path) -> int:
    """Detach what is mounted below; how many mounts there were."""
    mounted = Path("/proc/self/mountinfo").read_text()
    points = [point for folder in folders for point in mounts_below(mounted, str(folder))]
    for point in points:
        succeeds(["umount", "--lazy", point])
    return len(points)


def _forget_results(network: str) -> None:
    """Remove what CNI noted of our pods' interfaces; the notes of other networks stay."""
    results = Path("/var/lib/cni/results")
    for ours in results.glob(f"{network}-*-eth0"):
        sandbox = ours.name.removeprefix(f"{network}-").removesuffix("-eth0")
        for note in results.glob(f"*-{sandbox}-*"):
            note.unlink(missing_ok=True)


def _mask(settings: Settings) -> None:
    """Let pods reach the world under the host's address, by a table of our own that is removed as a whole."""
    rules = f"""\
table ip {settings.name} {{}}
delete table ip {settings.name}
table ip {settings.name} {{
  chain postrouting {{
    type nat hook postrouting priority srcnat;
    ip saddr {settings.pods} ip daddr != {settings.pods} masquerade
  }}
}}
"""
    output(["nft", "-f", "-"], stdin=rules)


def _sysctl(name: str, value: str) -> None:
    path = Path("/proc/sys") / name
    if path.read_text().strip() != value:
        path.write_text(value)

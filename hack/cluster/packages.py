# SPDX-License-Identifier: Apache-2.0
"""System programs: what is missing is installed on Debian and named elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.commands import stream, system_path
from hack.cluster.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ("PACKAGES", "cni_folder", "install_packages", "missing_packages")

CNI_FOLDERS = ("/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni")
CNI_PLUGINS = ("bridge", "host-local", "loopback", "portmap")
# the program that tells whether a package is there
PACKAGES: Mapping[str, str] = {
    "containerd": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "socat": "socat",
    "ethtool": "ethtool",
    "ipset": "ipset",
    "nft": "nftables",
    "ip": "iproute2",
    "mount": "mount",
    "modprobe": "kmod",
}


def missing_packages() -> list[str]:
    """The Debian packages whose programs are not there."""
    path = system_path()
    lacking = [package for program, package in PACKAGES.items() if shutil.which(program, path=path) is None]
    return lacking if cni_folder() else [*lacking, "containernetworking-plugins"]


def cni_folder() -> Path | None:
    """Where the CNI plugins lie; None where they are not installed."""
    folders = [Path(folder) for folder in CNI_FOLDERS]
    return next((folder for folder in folders if all((folder / name).exists() for name in CNI_PLUGINS)), None)


def install_packages(log: Path, note: Callable[[str], None]) -> None:
    """Install what is missing; ClusterError where that is not ours to do."""
    lacking = missing_packages()
    if not lacking:
        return
    names = " ".join(lacking)
    if shutil.which("apt-get", path=system_path()) is None:
        raise ClusterError(
            f"missing on this machine, by their Debian names: {names}. "
            "Install them with the package manager of this system and run this again"
        )
    note(f"installing {names}")
    apt = ["apt-get", "-o", "DPkg::Lock::Timeout=600", "-qq"]
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    stream([*apt, "update"], _drop, log=log, env=env)
    stream([*apt, "install", "-y", "--no-install-recommends", *lacking], _drop, log=log, env=env)
    left = missing_packages()
    if left:
        raise ClusterError(f"apt-get installed {names}, yet {' '.join(left)} is not found: see {log}")


def _drop(_row: str) -> None:
    """Nothing: the log has it."""

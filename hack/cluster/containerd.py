# SPDX-License-Identifier: Apache-2.0
"""Our containerd, spoken to by its own program `ctr`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hack.cluster.commands import output, succeeds
from hack.cluster.errors import ClusterError
from hack.cluster.image import names_in

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ("Containerd",)


class Containerd:
    """Images and containers of the namespace that the kubelet uses."""

    def __init__(self, socket: Path) -> None:
        self._ctr = ["ctr", "--address", str(socket), "--namespace", "k8s.io"]

    def ready(self) -> bool:
        return succeeds([*self._ctr, "version"])

    def images(self) -> list[str]:
        """The names of the images there, those by digest left out."""
        names = output([*self._ctr, "images", "list", "--quiet"]).split()
        return [name for name in names if "sha256:" not in name]

    def load(self, archive: Path) -> list[str]:
        """Import a docker-archive or an OCI archive; the names of its images."""
        if not archive.is_file():
            raise ClusterError(f"there is no image archive {archive}: build it first")
        names = names_in(archive)
        output([*self._ctr, "images", "import", "--all-platforms", str(archive)])
        lost = set(names) - set(self.images())
        if lost:
            raise ClusterError(f"{archive} was imported, yet containerd has no {', '.join(sorted(lost))}")
        return names

    def clear(self) -> int:
        """Remove every container and its task, and say how many there were; the images stay."""
        for task in output([*self._ctr, "tasks", "list", "--quiet"]).split():
            succeeds([*self._ctr, "tasks", "delete", "--force", task])
        containers = output([*self._ctr, "containers", "list", "--quiet"]).split()
        for container in containers:
            output([*self._ctr, "containers", "delete", container])
        return len(containers)

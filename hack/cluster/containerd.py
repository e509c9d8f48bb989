# SPDX-License-Identifier: Apache-2.0
"""Our containerd, spoken to by its own program `ctr`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hack.cluster.commands import output, succeeds
from hack.cluster.errors import ClusterError
from hack.cluster.image import dev_name, name_in

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ("Containerd",)


class Containerd:
    """Images and containers of the namespace that the kubelet uses."""

    def __init__(self, socket: Path, notes: Path) -> None:
        self._notes = notes  # which archive each image came from: importing a gigabyte again takes long
        self._ctr = ["ctr", "--address", str(socket), "--namespace", "k8s.io"]

    def ready(self) -> bool:
        return succeeds([*self._ctr, "version"])

    def images(self) -> list[str]:
        """The names of the images there, those by digest left out."""
        names = output([*self._ctr, "images", "list", "--quiet"]).split()
        return [name for name in names if "sha256:" not in name]

    def load(self, archive: Path) -> str:
        """Import an archive, unless this very file was imported before; the name of its image."""
        name, stat = name_in(archive), archive.stat()
        loaded = self._loaded()
        stamp = f"{archive.resolve()} {stat.st_size} {stat.st_mtime_ns}"
        if loaded.get(name) != stamp or name not in self.images():
            output([*self._ctr, "images", "import", "--all-platforms", str(archive)])
            self._notes.write_text(json.dumps({**loaded, name: stamp}))
        if name not in self.images():
            raise ClusterError(
                f"{archive} was imported, yet containerd has no {name}: build the archive again"
            )
        output([*self._ctr, "images", "tag", "--force", name, dev_name(name)])
        return name

    def _loaded(self) -> dict[str, str]:
        try:
            read: dict[str, str] = json.loads(self._notes.read_text())
        except (OSError, ValueError):
            return {}
        return read

    def clear(self) -> int:
        """Remove every container and its task, and say how many there were; the images stay."""
        for task in output([*self._ctr, "tasks", "list", "--quiet"]).split():
            succeeds([*self._ctr, "tasks", "delete", "--force", task])
        containers = output([*self._ctr, "containers", "list", "--quiet"]).split()
        for container in containers:
            output([*self._ctr, "containers", "delete", container])
        return len(containers)

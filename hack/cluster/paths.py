# SPDX-License-Identifier: Apache-2.0
"""Where everything lies: one folder, so that removing it removes all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("SOURCES", "Paths", "cache_dir", "paths_from", "short")

SOURCES = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Paths:
    """The folders and files of this package under `cache`."""

    cache: Path

    @property
    def bin(self) -> Path:
        return self.cache / "bin"

    @property
    def cluster(self) -> Path:
        return self.cache / "cluster"

    @property
    def kubeconfig(self) -> Path:
        return self.cache / "kubeconfig"

    @property
    def log(self) -> Path:
        return self.cache / "cluster.log"

    @property
    def settings(self) -> Path:
        """What the running cluster was begun with."""
        return self.cluster / "settings.json"

    @property
    def pki(self) -> Path:
        return self.cluster / "pki"

    @property
    def config(self) -> Path:
        return self.cluster / "config"

    @property
    def logs(self) -> Path:
        return self.cluster / "logs"

    @property
    def pids(self) -> Path:
        return self.cluster / "pids"

    @property
    def etcd(self) -> Path:
        return self.cluster / "etcd"

    @property
    def kubelet(self) -> Path:
        return self.cluster / "kubelet"

    @property
    def containerd(self) -> Path:
        """Content and images: kept when the cluster goes down, since loading them takes long."""
        return self.cache / "containerd"

    @property
    def containerd_state(self) -> Path:
        return self.cluster / "containerd"

    @property
    def containerd_socket(self) -> Path:
        return self.containerd_state / "containerd.sock"

    @property
    def volumes(self) -> Path:
        return self.cluster / "volumes"


def paths_from(environ: Mapping[str, str] | None = None) -> Paths:
    """The folder named by DGLOP_CACHE, by default `~/.cache/dglop`."""
    named = (os.environ if environ is None else environ).get("DGLOP_CACHE")
    return Paths(Path(named).expanduser().resolve() if named else Path.home() / ".cache" / "dglop")


def short(path: Path) -> str:
    """The path as people write it: `~` for their home."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def cache_dir() -> Path:
    """The one folder of this environment."""
    return paths_from().cache

# SPDX-License-Identifier: Apache-2.0
"""CRDs of other projects, as their Go modules have them: fetched once into the cache, never copied."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from hack.cluster.commands import output
from hack.cluster.errors import ClusterError
from hack.cluster.golang import find_go
from hack.cluster.paths import paths_from

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("KUEUE", "SCHEDULER_PLUGINS", "VOLCANO", "Source", "crds_of", "module_folder")


@dataclass(frozen=True, slots=True)
class Source:
    """A Go module at a version, the checksum of it as go.sum has it, and where its CRDs are."""

    module: str
    version: str
    checksum: str
    files: str


VOLCANO: Final = Source(
    "volcano.sh/volcano",
    "v1.10.0",
    "h1:+GzQinGgeV0j58WpWpxByOXgF+YfUPW55zghM8GqjF0=",
    "config/crd/volcano/bases/scheduling.volcano.sh_podgroups.yaml",
)
SCHEDULER_PLUGINS: Final = Source(
    "sigs.k8s.io/scheduler-plugins",
    "v0.33.5",
    "h1:9u4QAYbuoxa59aStrJKP4Bii2EQrZmGPN2tzvfs2gL0=",
    "config/crd/bases/scheduling.x-k8s.io_podgroups.yaml",
)
KUEUE: Final = Source(
    "sigs.k8s.io/kueue",
    "v0.17.0",
    "h1:7hzb38M4eKGzYW+CFv2s1L+swzzacUCHOCXxZmAV90I=",
    "config/components/crd/bases/*.yaml",
)


def module_folder(source: Source, note: Callable[[str], None]) -> Path:
    """
    The module's folder in the cache, fetched if it is not there.

    Raises ClusterError: no Go can be had, the module cannot, or it is not the one that was meant.
    """
    go = find_go(paths_from(), note)
    wanted = f"{source.module}@{source.version}"
    with tempfile.TemporaryDirectory() as folder:  # in no module of ours, whose requirements would count
        argv = [str(go.program), "-C", folder, "mod", "download", "-json", wanted]
        told = json.loads(output(argv, env=go.env))
    if told.get("Sum") != source.checksum:
        raise ClusterError(
            f"{wanted} has the checksum {told.get('Sum')}, not {source.checksum}: "
            f"remove it from the module cache and try again ({told.get('Error', 'no error was told')})"
        )
    return Path(told["Dir"])


def crds_of(source: Source, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """The CRDs of a module. Raises ClusterError as `module_folder` does, and for a module without them."""
    files = sorted(module_folder(source, note).glob(source.files))
    if not files:
        raise ClusterError(f"{source.module} {source.version} has no {source.files}")
    return [document for file in files for document in yaml.safe_load_all(file.read_text()) if document]

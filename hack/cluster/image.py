# SPDX-License-Identifier: Apache-2.0
"""The pause image: a static program that waits, in an archive that any runtime imports."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from typing import TYPE_CHECKING, Any

from hack.cluster.errors import ClusterError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ("PAUSE_IMAGE", "architecture", "archive", "dev_name", "is_oci", "name_in")

PAUSE_IMAGE = "dglop.local/pause:1"
DOCKER = "manifest.json"
OCI_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


def architecture(machine: str | None = None) -> str:
    """The name that images and Go have for this machine's processor; empty for one that is not supported."""
    known = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
    return known.get((platform.machine() if machine is None else machine).lower(), "")


def archive(program: bytes, target: Path) -> None:
    """Write a docker-archive with one layer: the program at /pause. The same program gives the same bytes."""
    layer = _tar({"pause": (program, 0o755)})
    config = json.dumps(
        {
            "architecture": architecture(),
            "os": "linux",
            "config": {"Entrypoint": ["/pause"], "User": "65535:65535"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        },
        sort_keys=True,
    ).encode()
    name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": name, "RepoTags": [PAUSE_IMAGE], "Layers": ["layer.tar"]}]
    files = {name: config, "layer.tar": layer, "manifest.json": json.dumps(manifest).encode()}
    target.write_bytes(_tar({path: (content, 0o644) for path, content in files.items()}))


def _tar(files: dict[str, tuple[bytes, int]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, (content, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def name_in(path: Path) -> str:
    """The name of the image in a docker-archive or an OCI archive; ClusterError where there is none."""
    try:
        with tarfile.open(path) as tar:
            named = _names(tar)
    except FileNotFoundError:
        raise ClusterError(f"there is no image archive {path}: build it first") from None
    except (tarfile.TarError, ValueError, KeyError) as error:
        raise ClusterError(f"{path} is no image archive: build it again") from error
    if len(named) != 1:
        raise ClusterError(
            f"{path} holds {len(named)} named images, and one is wanted: name it where it is made"
        )
    return named[0]


def dev_name(name: str) -> str:
    """The name by which the samples know an image, whatever it was built from: it moves with each load."""
    return f"{name.rpartition(':')[0]}:dev"


def is_oci(path: Path) -> bool:
    """Whether the archive has the OCI layout and no Docker manifest."""
    with tarfile.open(path) as tar:
        return DOCKER not in tar.getnames()


def _names(tar: tarfile.TarFile) -> list[str]:
    if DOCKER in tar.getnames():
        return [name for entry in _json(tar, DOCKER) for name in entry.get("RepoTags") or []]
    about = [entry.get("annotations", {}) for entry in _json(tar, "index.json")["manifests"]]
    return [found for each in about if (found := next(filter(None, map(each.get, OCI_NAMES)), None))]


def _json(tar: tarfile.TarFile, name: str) -> Any:
    file = tar.extractfile(name)
    return json.load(file) if file else []

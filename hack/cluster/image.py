# SPDX-License-Identifier: Apache-2.0
"""The pause image: a static program that waits, in an archive that any runtime imports."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ("PAUSE_IMAGE", "architecture", "archive", "names_in")

PAUSE_IMAGE = "dglop.local/pause:1"


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


def names_in(path: Path) -> list[str]:
    """The image names that a docker-archive or an OCI archive carries."""
    with tarfile.open(path) as tar:
        members = set(tar.getnames())
        if "manifest.json" in members:
            return [name for entry in _json(tar, "manifest.json") for name in entry.get("RepoTags") or []]
        if "index.json" not in members:
            return []
        found = [entry.get("annotations", {}) for entry in _json(tar, "index.json")["manifests"]]
        keys = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
        return [next(a[key] for key in keys if key in a) for a in found if any(key in a for key in keys)]


def _json(tar: tarfile.TarFile, name: str) -> "list[dict[str, list[str]]]":
    file = tar.extractfile(name)
    return json.load(file) if file else []

# SPDX-License-Identifier: Apache-2.0
"""The manifest of a partitioning: which files it has, their sizes and sha256, and a hash over all of it."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import contract

__all__ = (
    "Manifest",
    "ManifestError",
    "PartFile",
    "inside",
    "load_manifest",
    "save_manifest",
    "sha256_of",
    "verify_files",
)

VERSION = 1
_BLOCK = 1 << 20


class ManifestError(ValueError):
    """The manifest or a file that it names is not what it says."""


@dataclass(frozen=True)
class PartFile:
    """A file of the partitioning; `path` is relative to the parts' folder, `part` None where all need it."""

    path: str
    size: int
    sha256: str
    part: Optional[int] = None


@dataclass(frozen=True)
class Manifest:
    """What one run of the partitioner made; `unique` differs between any two runs."""

    unique: str
    job_uid: str
    graph: str
    config: str
    num_parts: int
    part_method: str
    num_nodes: int
    num_edges: int
    edge_cut: Optional[int]
    files: Tuple[PartFile, ...]

    @property
    def hash(self) -> str:
        """sha256 of the canonical JSON (sorted keys, no blanks) of everything but the hash itself."""
        return hashlib.sha256(_canonical(self._body())).hexdigest()

    @property
    def total_bytes(self) -> int:
        return sum(file.size for file in self.files)

    def of_part(self, part: Optional[int]) -> List[PartFile]:
        """The files that a pod with this part needs: the shared ones first, and without a part only these."""
        mine = [file for file in self.files if file.part is None or file.part == part]
        return sorted(mine, key=lambda file: (file.part is not None, file.path))

    def to_json(self) -> Dict[str, Any]:
        return dict(self._body(), hash=self.hash)

    def _body(self) -> Dict[str, Any]:
        return {
            "version": VERSION,
            "id": self.unique,
            "job": self.job_uid,
            "graph": self.graph,
            "config": self.config,
            "numParts": self.num_parts,
            "partMethod": self.part_method,
            "numNodes": self.num_nodes,
            "numEdges": self.num_edges,
            "edgeCut": self.edge_cut,
            "files": [
                {"path": file.path, "size": file.size, "sha256": file.sha256, "part": file.part}
                for file in self.files
            ],
        }

    @classmethod
    def from_json(cls, data: Any) -> Manifest:
        """Raises ManifestError when it is not a manifest, names a path outside or its hash is not its own."""
        try:
            files = tuple(_file(item) for item in data["files"])
            found = cls(
                unique=str(data["id"]),
                job_uid=str(data["job"]),
                graph=str(data["graph"]),
                config=str(data["config"]),
                num_parts=int(data["numParts"]),
                part_method=str(data["partMethod"]),
                num_nodes=int(data["numNodes"]),
                num_edges=int(data["numEdges"]),
                edge_cut=None if data.get("edgeCut") is None else int(data["edgeCut"]),
                files=files,
            )
            version, claimed = data["version"], data["hash"]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ManifestError("not a manifest of dglrun: %r" % error) from error
        if version != VERSION:
            raise ManifestError("manifest version %r; this dglrun knows %d" % (version, VERSION))
        if claimed != found.hash:
            raise ManifestError("the manifest's hash is %s, its content has %s" % (claimed, found.hash))
        return found


def load_manifest(folder: str) -> Optional[Manifest]:
    """The manifest in `folder`, None where there is none. Raises ManifestError, OSError."""
    try:
        with open(os.path.join(folder, contract.MANIFEST_FILE), "rb") as file:
            text = file.read()
    except FileNotFoundError:
        return None
    try:
        data = json.loads(text.decode("utf-8"))
    except ValueError as error:
        raise ManifestError("%s is not JSON: %s" % (contract.MANIFEST_FILE, error)) from error
    return Manifest.from_json(data)


def save_manifest(folder: str, manifest: Manifest) -> None:
    """Write it whole or not at all, and to the disk: its presence vouches for every file that it names."""
    path = os.path.join(folder, contract.MANIFEST_FILE)
    with open(path + ".tmp", "wb") as file:
        file.write(_canonical(manifest.to_json()))
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".tmp", path)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256_of(path: str, *, sync: bool = False) -> Tuple[int, str]:
    """Size and sha256 of a file; with `sync` its bytes are on the disk afterwards. Raises OSError."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        if sync:
            os.fsync(file.fileno())
        for block in iter(lambda: file.read(_BLOCK), b""):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def verify_files(folder: str, files: List[PartFile]) -> None:
    """Raises ManifestError that names the first file that is missing or differs."""
    for wanted in files:
        try:
            size, digest = sha256_of(os.path.join(folder, wanted.path))
        except OSError as error:
            raise ManifestError("%s cannot be read: %s" % (wanted.path, error.strerror)) from error
        if (size, digest) != (wanted.size, wanted.sha256):
            raise ManifestError(
                "%s is corrupt: expected %d bytes with sha256 %s, got %d bytes with sha256 %s"
                % (wanted.path, wanted.size, wanted.sha256, size, digest)
            )


def inside(path: str) -> bool:
    """Whether `path` is relative, normal and stays in the folder it is joined to."""
    return (
        bool(path) and path == posixpath.normpath(path) and not path.startswith(("/", "..")) and path != "."
    )


def _file(item: Mapping[str, Any]) -> PartFile:
    found = PartFile(str(item["path"]), int(item["size"]), str(item["sha256"]), item["part"])
    if not inside(found.path):
        raise ManifestError("the manifest names %r, which is not inside the parts' folder" % found.path)
    return found


def _canonical(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")

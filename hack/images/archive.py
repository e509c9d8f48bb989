# SPDX-License-Identifier: Apache-2.0
"""Sizes of the layers in an image archive, whichever engine wrote it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import threading
import zlib
from typing import IO, TYPE_CHECKING, Any

from hack.images.model import ImageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ("layer_names", "measure")

CHUNK = 1 << 20
GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def _read_json(archive: tarfile.TarFile, name: str) -> Any:
    file = archive.extractfile(name)
    if file is None:
        raise ImageError(f"{name} in an image archive is no file")
    return json.load(file)


def _blob(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


def layer_names(archive: tarfile.TarFile) -> list[str]:
    """The members that are layers, in a docker-archive or an OCI archive of one image."""
    names = set(archive.getnames())
    if "manifest.json" in names:
        return [str(layer) for layer in _read_json(archive, "manifest.json")[0]["Layers"]]
    if "index.json" not in names:
        raise ImageError("an image archive has neither manifest.json nor index.json")
    document = _read_json(archive, "index.json")
    while "manifests" in document:  # an index may name indexes
        document = _read_json(archive, _blob(document["manifests"][0]["digest"]))
    return [_blob(layer["digest"]) for layer in document["layers"]]


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


def _gunzipped(file: IO[bytes]) -> int:
    total = 0
    engine = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    for chunk in _chunks(file):
        rest = chunk
        while rest:
            total += len(engine.decompress(rest))
            rest = engine.unused_data
            if engine.eof:  # parallel gzip writes several members one after the other
                engine = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    return total


def _unzstd(file: IO[bytes]) -> int:
    zstd = shutil.which("zstd")
    if zstd is None:
        raise ImageError("the program zstd is not installed: install it (on Debian: apt-get install zstd)")
    with subprocess.Popen([zstd, "-dc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        given, got = process.stdin, process.stdout
        if given is None or got is None:
            raise ImageError("zstd was started without pipes")
        feeder = threading.Thread(target=_feed, args=(file, given))
        feeder.start()
        total = sum(len(chunk) for chunk in _chunks(got))
        feeder.join()
    if process.returncode != 0:
        raise ImageError(f"zstd could not read a layer and ended with {process.returncode}")
    return total


def _feed(file: IO[bytes], into: IO[bytes]) -> None:
    with into:
        shutil.copyfileobj(file, into, CHUNK)


def _gzipped(file: IO[bytes]) -> int:
    engine = zlib.compressobj(level=1)
    return sum(len(engine.compress(chunk)) for chunk in _chunks(file)) + len(engine.flush())


def measure(path: Path) -> tuple[int, int]:
    """
    Bytes of all layers unpacked and compressed.

    Layers that lie in the archive as they are get their compressed size from the fastest gzip, so it is an
    upper bound.
    """
    unpacked = compressed = 0
    with tarfile.open(path) as archive:
        for name in layer_names(archive):
            file, size = archive.extractfile(name), archive.getmember(name).size
            if file is None:
                raise ImageError(f"layer {name} in {path} is no file")
            magic = file.read(4)
            file.seek(0)
            if magic[:2] == GZIP_MAGIC:
                unpacked, compressed = unpacked + _gunzipped(file), compressed + size
            elif magic == ZSTD_MAGIC:
                unpacked, compressed = unpacked + _unzstd(file), compressed + size
            else:
                unpacked, compressed = unpacked + size, compressed + _gzipped(file)
    return unpacked, compressed

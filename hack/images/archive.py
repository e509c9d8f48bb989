# SPDX-License-Identifier: Apache-2.0
"""Sizes of the layers in an image archive, whichever engine wrote it."""

from __future__ import annotations

import contextlib
import json
import re
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
DIGEST = re.compile(r"[0-9a-f]{64}")
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


def _gzipped(file: IO[bytes]) -> int:
    engine = zlib.compressobj(level=1)
    return sum(len(engine.compress(chunk)) for chunk in _chunks(file)) + len(engine.flush())


def _through_zstd(file: IO[bytes], *options: str) -> int:
    """How many bytes zstd makes of `file`."""
    argv = [shutil.which("zstd") or "zstd", "--quiet", "--stdout", *options]
    try:
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except FileNotFoundError:
        raise ImageError("zstd is not installed: install it (on Debian: apt-get install zstd)") from None
    with process:
        if process.stdin is None or process.stdout is None:
            raise ImageError("zstd was started without pipes")
        feeder = threading.Thread(target=_feed, args=(file, process.stdin))
        feeder.start()
        total = sum(len(chunk) for chunk in _chunks(process.stdout))
        feeder.join()
    if process.returncode != 0:
        raise ImageError(f"zstd could not read a layer and ended with {process.returncode}")
    return total


def _feed(file: IO[bytes], into: IO[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError), into:  # its exit code tells why it stopped reading
        shutil.copyfileobj(file, into, CHUNK)


def _sizes(file: IO[bytes], size: int) -> tuple[int, int]:
    """Bytes of one layer unpacked and compressed."""
    magic = file.read(4)
    file.seek(0)
    if magic[:2] == GZIP_MAGIC:
        return _gunzipped(file), size
    if magic == ZSTD_MAGIC:
        return _through_zstd(file, "--decompress"), size
    packed = _through_zstd(file, "--threads=0") if shutil.which("zstd") else _gzipped(file)
    return size, packed


def measure(path: Path, known: Path) -> tuple[int, int]:
    """
    Bytes of all layers unpacked and compressed.

    Layers that lie in the archive as they are get packed to be counted, by zstd's default or by the fastest
    gzip. What was counted is kept in the file `known` under the layer's name, which holds its digest.
    """
    counted: dict[str, list[int]] = json.loads(known.read_text()) if known.exists() else {}
    sizes: dict[str, list[int]] = {}
    with tarfile.open(path) as archive:
        for name in layer_names(archive):
            file = archive.extractfile(name)
            if file is None:
                raise ImageError(f"layer {name} in {path} is no file")
            sizes[name] = counted.get(name) or list(_sizes(file, archive.getmember(name).size))
    known.write_text(
        json.dumps(counted | {name: each for name, each in sizes.items() if DIGEST.search(name)})
    )
    return sum(each[0] for each in sizes.values()), sum(each[1] for each in sizes.values())

# SPDX-License-Identifier: Apache-2.0
"""Sizes read from archives as Docker and buildah write them."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

from hack.images.archive import measure
from hack.images.buildah import mounted_below
from hack.images.model import ImageError

LAYER = b"layer " * 50_000


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w") as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return path


def oci(path: Path, *layers: bytes) -> Path:
    listed = [{"digest": f"sha256:{index}"} for index in range(len(layers))]
    members = {
        "index.json": json.dumps({"manifests": [{"digest": "sha256:m"}]}).encode(),
        "blobs/sha256/m": json.dumps({"layers": listed}).encode(),
        **{f"blobs/sha256/{index}": layer for index, layer in enumerate(layers)},
    }
    return archive(path, members)


def test_gzipped_layers_are_counted_both_ways(tmp_path: Path) -> None:
    packed = gzip.compress(LAYER)
    assert measure(oci(tmp_path / "a.tar", packed, packed), tmp_path / "known.json") == (
        2 * len(LAYER),
        2 * len(packed),
    )


def test_a_layer_of_several_gzip_members_is_read_to_its_end(tmp_path: Path) -> None:
    packed = gzip.compress(LAYER) + gzip.compress(LAYER)
    assert measure(oci(tmp_path / "a.tar", packed), tmp_path / "known.json") == (2 * len(LAYER), len(packed))


def test_the_same_layer_twice_in_an_archive_counts_once_as_engines_store_it(tmp_path: Path) -> None:
    manifest = json.dumps([{"Layers": ["one/layer.tar", "one/layer.tar"]}]).encode()
    path = archive(tmp_path / "a.tar", {"manifest.json": manifest, "one/layer.tar": LAYER})
    assert measure(path, tmp_path / "known.json")[0] == len(LAYER)


def test_a_layer_named_by_its_digest_is_counted_once_and_remembered(tmp_path: Path) -> None:
    name = f"{'0' * 64}.tar"
    manifest = json.dumps([{"Layers": [name, "other.tar"]}]).encode()
    path = archive(tmp_path / "a.tar", {"manifest.json": manifest, name: LAYER, "other.tar": LAYER})
    before = measure(path, tmp_path / "known.json")
    assert list(json.loads((tmp_path / "known.json").read_text())) == [name]
    assert measure(path, tmp_path / "known.json") == before


def test_plain_layers_of_a_docker_archive_are_compressed_to_be_counted(tmp_path: Path) -> None:
    manifest = json.dumps([{"Layers": ["one/layer.tar"]}]).encode()
    path = archive(tmp_path / "a.tar", {"manifest.json": manifest, "one/layer.tar": LAYER})
    unpacked, compressed = measure(path, tmp_path / "known.json")
    assert unpacked == len(LAYER)
    assert 0 < compressed < len(LAYER) / 10


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="neither manifest"):
        measure(archive(tmp_path / "a.tar", {"readme": b""}), tmp_path / "known.json")


def test_mounts_below_a_folder_are_found_innermost_first() -> None:
    mountinfo = """\
22 1 254:0 / / rw - ext4 /dev/vda rw
90 22 0:40 / /cache/images/storage/overlay/x/merged rw - overlay overlay rw
91 90 0:41 / /cache/images/storage/overlay/x/merged/proc rw - proc proc rw
92 22 0:42 / /cache/images\\040old rw - tmpfs tmpfs rw
"""
    assert mounted_below(mountinfo, Path("/cache/images")) == [
        "/cache/images/storage/overlay/x/merged/proc",
        "/cache/images/storage/overlay/x/merged",
    ]

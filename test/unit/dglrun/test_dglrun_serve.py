# SPDX-License-Identifier: Apache-2.0
"""`serve`: what the manifest names is there for those with the token, and nothing else."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from dglop.dglrun import contract
from test.unit.dglrun.dglrun_builders import TOKEN, partitioned, parts_server

if TYPE_CHECKING:
    from email.message import Message
    from pathlib import Path

pytestmark = pytest.mark.scripted


def get(url: str, path: str, token: str | None = TOKEN, **headers: str) -> tuple[int, Message, bytes]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    connection.request("GET", path, headers=sent)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, response.headers, body


def test_a_file_is_served_whole_or_in_part_with_the_manifests_hash(tmp_path: Path) -> None:
    words = partitioned(tmp_path)
    data = (tmp_path / "parts" / "part1" / "graph.dgl").read_bytes()
    with parts_server(tmp_path) as url:
        status, headers, body = get(url, "/files/part1/graph.dgl")
        assert (status, body) == (200, data)
        assert headers[contract.MANIFEST_HASH_HEADER] == words["manifest"]
        status, headers, body = get(url, "/files/part1/graph.dgl", Range="bytes=100-199")
        assert (status, body) == (206, data[100:200])
        assert headers["Content-Range"] == f"bytes 100-199/{len(data)}"
        tag = headers["ETag"]
        assert get(url, "/files/part1/graph.dgl", Range="bytes=100-", If_Range=tag)[0] == 206
        assert get(url, "/files/part1/graph.dgl", Range="bytes=100-", If_Range='"old"')[0] == 200
        assert get(url, "/files/part1/graph.dgl", Range=f"bytes={len(data)}-")[0] == 416


@pytest.mark.parametrize(
    "path",
    [
        "/files/../token",
        "/files/%2e%2e/token",
        "/files//etc/passwd",
        "/files/%2fetc%2fpasswd",
        "/files/dglrun-manifest.json",
        "/files/",
        "/files/part1",
        "/other",
    ],
)
def test_what_the_manifest_does_not_name_is_not_there(tmp_path: Path, path: str) -> None:
    partitioned(tmp_path)
    with parts_server(tmp_path) as url:
        assert get(url, path)[0] == 404


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x"])
@pytest.mark.parametrize("path", ["/manifest", "/files/digits.json", "/other"])
def test_without_the_token_nothing_is_told(tmp_path: Path, token: str | None, path: str) -> None:
    partitioned(tmp_path)
    with parts_server(tmp_path) as url:
        assert get(url, path, token)[0] == 401


def test_readiness_needs_no_token_and_comes_with_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    with parts_server(tmp_path) as url:
        assert get(url, "/readyz", None)[0] == 503
        assert get(url, "/manifest")[0] == 503
        assert get(url, "/files/digits.json")[0] == 503
        partitioned(tmp_path)
        assert get(url, "/readyz", None)[0] == 200
        assert get(url, "/manifest")[0] == 200


def test_parts_that_do_not_fit_their_manifest_are_not_ready_and_say_why(tmp_path: Path) -> None:
    partitioned(tmp_path)
    (tmp_path / "parts" / "part1" / "graph.dgl").write_bytes(b"short")
    with parts_server(tmp_path) as url:
        status, _, body = get(url, "/readyz", None)
    assert status == 503
    assert b"part1/graph.dgl" in body

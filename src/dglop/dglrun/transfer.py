# SPDX-License-Identifier: Apache-2.0
"""One file over HTTP into a folder: resumed after a cut, checked by sha256, in place only when whole."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.client
import os
import shutil
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Dict, Optional, Tuple
from urllib.parse import quote, urlsplit

from . import contract
from .ending import Refusal

if TYPE_CHECKING:
    from .manifest import PartFile

__all__ = (
    "Answer",
    "Corrupt",
    "Cut",
    "PartsServer",
    "ServerChanged",
    "download",
    "no_space",
    "partial_path",
    "read_block",
)

_BLOCK = 1 << 18
_PATIENCE = 30.0


class Cut(Exception):  # noqa: N818
    """The server could not be reached or stopped in the middle: try again. `got`: bytes that it brought."""

    def __init__(self, why: str, got: int = 0) -> None:
        super().__init__(why)
        self.got = got


class ServerChanged(Exception):  # noqa: N818
    """The server now has another manifest than the one that this fetch began with."""


class Corrupt(Exception):  # noqa: N818
    """What came does not have the sha256 that the manifest says."""


@dataclass
class Answer:
    """A response whose head has been read; `body` yields its bytes. To be closed."""

    status: int
    manifest_hash: str
    body: http.client.HTTPResponse
    connection: http.client.HTTPConnection

    def close(self) -> None:
        self.body.close()
        self.connection.close()


class PartsServer:
    """The Partitioner's server; a connection a request, so that a stale DNS answer lives no longer."""

    def __init__(self, url: str, token: Callable[[], Optional[str]]) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port or contract.PARTS_PORT
        self._token = token
        self.url = url

    def get(self, path: str, headers: Optional[Dict[str, str]] = None) -> Answer:
        """Raises Cut when there is no answer, or one that a later try may better."""
        connection = http.client.HTTPConnection(self._host, self._port, timeout=_PATIENCE)
        token = self._token()
        sent = dict(headers or {}, Connection="close")
        if token is not None:
            sent["Authorization"] = "Bearer " + token
        try:
            connection.request("GET", path, headers=sent)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Cut("%s: %s" % (self.url, _why(error))) from error
        if response.status not in (200, 206, 416):
            text = response.reason
            response.close()
            connection.close()
            raise Cut("%s%s answers %d %s" % (self.url, path, response.status, text))
        return Answer(
            response.status, response.headers.get(contract.MANIFEST_HASH_HEADER, ""), response, connection
        )


def partial_path(folder: str, wanted: PartFile) -> str:
    """Where the beginning of a file lies until it is whole; named by content, so that no two are mixed."""
    return os.path.join(folder, "%s.%s.partial" % (wanted.path, wanted.sha256[:16]))


def download(server: PartsServer, folder: str, wanted: PartFile, manifest_hash: str) -> bool:
    """Bring `wanted` into `folder`; True when it went on from an earlier beginning.

    Raises Cut (what came is kept), Corrupt (what came is removed), ServerChanged, Refusal (NoSpace).
    """
    partial = partial_path(folder, wanted)
    try:
        os.makedirs(os.path.dirname(partial), exist_ok=True)
        digest, have = _begun(partial, wanted.size)
        resumed = have > 0
        if have < wanted.size:
            have, digest = _receive(server, partial, wanted, manifest_hash, (digest, have))
    except OSError as error:
        raise no_space(folder, error, wanted) from error
    got = digest.hexdigest()
    if have != wanted.size or got != wanted.sha256:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
        raise Corrupt("%s: expected sha256 %s, got %s" % (wanted.path, wanted.sha256, got))
    os.replace(partial, os.path.join(folder, wanted.path))
    return resumed


def _receive(
    server: PartsServer, partial: str, wanted: PartFile, manifest_hash: str, begun: Tuple[hashlib._Hash, int]
) -> Tuple[int, hashlib._Hash]:
    digest, have = begun
    headers = {"Range": "bytes=%d-" % have, "If-Range": '"%s"' % wanted.sha256} if have else {}
    answer = server.get("/files/" + quote(wanted.path), headers)
    with contextlib.closing(answer):
        if answer.manifest_hash != manifest_hash:
            raise ServerChanged
        if answer.status != 206:
            digest, have = hashlib.sha256(), 0
        began = have
        with open(partial, "ab" if have else "wb") as file:
            while have < wanted.size:
                block = read_block(server, answer.body, min(_BLOCK, wanted.size - have), have - began)
                file.write(block)
                digest.update(block)
                have += len(block)
    return have, digest


def read_block(server: PartsServer, body: http.client.HTTPResponse, size: int, got: int) -> bytes:
    """The next bytes of a body; never none. Raises Cut."""
    try:
        block = body.read(size)
    except (OSError, http.client.HTTPException) as error:
        raise Cut("%s: %s" % (server.url, _why(error)), got) from error
    if not block:
        raise Cut("%s closed the connection in the middle of a file" % server.url, got)
    return block


def _begun(partial: str, size: int) -> Tuple[hashlib._Hash, int]:
    digest, have = hashlib.sha256(), 0
    try:
        if os.path.getsize(partial) > size:
            os.unlink(partial)
        with open(partial, "rb") as file:
            for block in iter(lambda: file.read(_BLOCK), b""):
                digest.update(block)
                have += len(block)
    except FileNotFoundError:
        return digest, 0
    return digest, have


def _why(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "its name is not known yet (%s)" % error.strerror
    return str(error) or type(error).__name__


def no_space(folder: str, error: OSError, wanted: Optional[PartFile] = None) -> Refusal:
    """The refusal for a failed write; says how much room there is where that is what is lacking."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        sentence = "cannot write to %s: %s" % (folder, error)
        return Refusal("ConfigInvalid", contract.EXIT_CONFIG, sentence)
    sentence = "the volume of %s is full (%d bytes free)" % (folder, shutil.disk_usage(folder).free)
    if wanted is not None:
        sentence += " while fetching %s of %d bytes" % (wanted.path, wanted.size)
    return Refusal("NoSpace", contract.EXIT_RETRYABLE, sentence + ": give the parts a larger volume")

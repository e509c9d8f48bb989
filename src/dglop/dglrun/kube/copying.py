# SPDX-License-Identifier: Apache-2.0
"""Files between a folder here and a container, by tar over exec: tried again, and compared by sha256."""

from __future__ import annotations

import hashlib
import os
import posixpath
import tarfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Dict, Iterator, Optional, Tuple, Type

from .apiserver import ApiServer, Denied
from .session import Capture, Pod, capture, run
from .websocket import Broken

if TYPE_CHECKING:
    import io
    from types import TracebackType

__all__ = ("Copier", "CopyError")

_BLOCK = 1 << 18
_SUMS = 'cd "$1" && find "$2" -type f -exec sha256sum {} +'


class CopyError(Exception):
    """It cannot be copied, however often it is tried."""


class _Differs(Exception):  # noqa: N818
    """What arrived is not what was sent."""


@dataclass(frozen=True)
class Copier:
    """Copies that are whole, or said to have failed; `tries` in all, with pauses between them."""

    api: ApiServer
    tries: int = 5
    say: Callable[[str], None] = print
    pause: Callable[[float], None] = time.sleep  # between tries, not instead of waiting for something

    def upload(self, source: str, pod: Pod, target: str) -> None:
        """As `kubectl cp SOURCE POD:TARGET`; into the folder TARGET where that is one.

        Raises CopyError, Denied.
        """
        if not os.path.exists(source):
            raise CopyError("%s is not there" % source)
        target = self._within(pod, target, os.path.basename(os.path.abspath(source)))
        folder, name = posixpath.split(target.rstrip("/"))
        self._again(lambda: self._upload(source, pod, folder or ".", name), "%s to %s" % (source, pod.name))

    def download(self, pod: Pod, source: str, target: str) -> None:
        """As `kubectl cp POD:SOURCE TARGET`. Raises CopyError, Denied."""
        folder, name = posixpath.split(source.rstrip("/"))
        if os.path.isdir(target) and not self._is_folder(pod, source):
            target = os.path.join(target, name)
        what = "%s of %s" % (source, pod.name)
        self._again(lambda: self._download(pod, folder or ".", name, target), what)

    def _again(self, work: Callable[[], None], what: str) -> None:
        for left in reversed(range(self.tries)):
            try:
                return work()
            except (Broken, _Differs) as error:
                if not left:
                    raise CopyError("%s could not be copied: %s" % (what, error)) from error
                self.say("%s: %s; trying again" % (what, error))
            except Denied as error:
                if not left or not error.is_passing:
                    raise
                self.say("%s: %s; trying again" % (what, error))
            self.pause(min(10.0, 0.5 * 2 ** (self.tries - left)))
        return None

    def _upload(self, source: str, pod: Pod, folder: str, name: str) -> None:
        script = 'mkdir -p "$1" && tar xomf - -C "$1"'
        sums: Dict[str, str] = {}
        done = self._ask(pod, script, folder, stdin=_archive(source, name, sums))
        _succeeded(done, "tar in %s" % pod.name)
        _compare(sums, self._sums(pod, folder, name))

    def _download(self, pod: Pod, folder: str, name: str, target: str) -> None:
        errors = bytearray()
        command = ["tar", "cf", "-", "-C", folder, name]
        with _Unpacker(name, target) as unpacker:
            code = run(self.api, pod, command, on_out=unpacker.take, on_err=errors.extend)
            if code:
                raise CopyError("tar in %s: %s" % (pod.name, errors.decode("utf-8", "replace").strip()))
            came = unpacker.unpack()
        _compare(self._sums(pod, folder, name), came)

    def _sums(self, pod: Pod, folder: str, name: str) -> Dict[str, str]:
        found = self._ask(pod, _SUMS, folder, name)
        _succeeded(found, "sha256sum in %s" % pod.name)
        pairs = [line.split(None, 1) for line in found.text.splitlines()]
        return {path.lstrip("*"): digest for digest, path in (each for each in pairs if len(each) == 2)}

    def _ask(self, pod: Pod, script: str, *words: str, stdin: Optional[Iterator[bytes]] = None) -> Capture:
        return capture(self.api, pod, ["sh", "-c", script, "sh", *words], stdin)

    def _is_folder(self, pod: Pod, path: str) -> bool:
        return self._ask(pod, 'test -d "$1"', path).code == 0

    def _within(self, pod: Pod, target: str, name: str) -> str:
        return posixpath.join(target, name) if self._is_folder(pod, target) else target


def _succeeded(done: Capture, what: str) -> None:
    if done.code:
        raise CopyError("%s ended with %d: %s" % (what, done.code, done.trouble))


def _compare(sent: Dict[str, str], came: Dict[str, str]) -> None:
    wrong = sorted(path for path in sent if came.get(path) != sent[path])
    if wrong:
        raise _Differs("%s arrived with another sha256 (%d files differ)" % (wrong[0], len(wrong)))


def _archive(source: str, name: str, sums: Dict[str, str]) -> Iterator[bytes]:
    """The bytes of a tar archive of a file or folder under a name; `sums` gets each file's sha256."""
    for path, inside in _walk(source, name):
        info = tarfile.TarInfo(inside)
        stat = os.stat(path)
        info.mode, info.mtime = stat.st_mode & 0o777, int(stat.st_mtime)
        if os.path.isdir(path):
            info.type = tarfile.DIRTYPE
            yield info.tobuf(tarfile.GNU_FORMAT)
            continue
        info.size = stat.st_size
        yield info.tobuf(tarfile.GNU_FORMAT)
        digest, size = hashlib.sha256(), 0
        with open(path, "rb") as file:
            while size < info.size:
                block = file.read(min(_BLOCK, info.size - size))
                if not block:
                    raise CopyError("%s became shorter while it was copied" % path)
                digest.update(block)
                size += len(block)
                yield block
        sums[inside] = digest.hexdigest()
        yield b"\0" * (-size % tarfile.BLOCKSIZE)
    yield b"\0" * tarfile.RECORDSIZE


def _walk(source: str, name: str) -> Iterator[Tuple[str, str]]:
    yield source, name
    if os.path.isdir(source):
        for entry in sorted(os.listdir(source)):
            for path, inside in _walk(os.path.join(source, entry), posixpath.join(name, entry)):
                yield path, inside


class _Unpacker:
    """A tar archive that comes in pieces, kept in a file beside its target until it is whole."""

    def __init__(self, name: str, target: str) -> None:
        self._name = name
        self._target = target
        self._path = target.rstrip("/") + ".tar.partial"
        os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
        self._file: io.BufferedWriter = open(self._path, "wb")  # noqa: SIM115 - closed at the exit

    def __enter__(self) -> _Unpacker:  # noqa: PYI034 - Self is of Python 3.11
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._file.close()
        os.unlink(self._path)

    def take(self, block: bytes) -> None:
        self._file.write(block)

    def unpack(self) -> Dict[str, str]:
        """The sha256 of each file, by its name in the archive. Raises _Differs, CopyError."""
        self._file.close()
        sums: Dict[str, str] = {}
        try:
            with tarfile.open(self._path, "r:") as archive:
                for info in archive:
                    self._entry(archive, info, sums)
        except tarfile.TarError as error:
            raise _Differs("the archive is cut: %s" % error) from error
        return sums

    def _entry(self, archive: tarfile.TarFile, info: tarfile.TarInfo, sums: Dict[str, str]) -> None:
        below = posixpath.relpath(info.name, self._name)
        if below.startswith(("..", "/")):
            raise CopyError("the archive has %r, which lies outside of what was asked for" % info.name)
        path = self._target if below == "." else os.path.join(self._target, below)
        if info.isdir():
            os.makedirs(path, exist_ok=True)
            return
        content = archive.extractfile(info) if info.isreg() else None
        if content is None:
            return  # links and devices are left out, as kubectl does
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        digest = hashlib.sha256()
        with open(path, "wb") as file:
            for block in iter(lambda: content.read(_BLOCK), b""):
                digest.update(block)
                file.write(block)
        os.chmod(path, info.mode & 0o777)
        sums[info.name] = digest.hexdigest()

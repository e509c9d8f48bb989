# SPDX-License-Identifier: Apache-2.0
"""One file into a container by exec: its beginning is kept, its sha256 compared, in place only when whole."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterator, List, Optional

from ..kube.session import Capture, Pod, capture
from ..kube.websocket import Broken

if TYPE_CHECKING:
    from ..kube.apiserver import ApiServer

__all__ = ("Pusher", "Spoilt")

# head ends by itself: a server of an older protocol cannot tell a command that its input is over
_APPEND = 'mkdir -p "${1%/*}" && head -c "$2" >> "$1"'
_SIZE = 'if [ -f "$1" ]; then wc -c < "$1"; else echo 0; fi'
_DIGEST = 'sha256sum < "$1"'


class Spoilt(Exception):  # noqa: N818
    """What lies there does not have the sha256 that it should have; it was removed."""


@dataclass(frozen=True)
class Pusher:
    """Puts files into one container. Its methods raise Denied and Broken."""

    api: ApiServer
    pod: Pod

    def has(self, path: str, size: int, sha256: str) -> bool:
        """Whether the very file is there."""
        return self.size(path) == size and self._digest(path) == sha256

    def size(self, path: str) -> int:
        """Bytes in the file; 0 where there is none."""
        text = self._ask(_SIZE, path).text.strip()
        return int(text) if text.isdigit() else 0

    def append(self, path: str, size: int, blocks: Iterator[bytes]) -> None:
        """Append `size` bytes to the file."""
        if size:
            self._ask(_APPEND, path, str(size), stdin=blocks)

    def settle(self, partial: str, path: str, sha256: str) -> None:
        """Put a whole file in place. Raises Spoilt where it is not what it should be."""
        got = self._digest(partial)
        if got != sha256:
            self._ask('rm -f "$1"', partial)
            raise Spoilt("%s in %s: expected sha256 %s, got %s" % (path, self.pod.name, sha256, got))
        self._ask('mv -f "$1" "$2"', partial, path)

    def put(self, path: str, content: bytes, mode: str = "644") -> None:
        """A small file, whole or not at all. Raises Spoilt."""
        digest = hashlib.sha256(content).hexdigest()
        partial = "%s.%s.partial" % (path, digest[:16])
        self._ask(': > "$1"', partial)
        self.append(partial, len(content), iter([content]))
        self._ask('chmod "$2" "$1"', partial, mode)
        self.settle(partial, path, digest)

    def _digest(self, path: str) -> str:
        return self._ask(_DIGEST, path).text.split(" ")[0].strip()

    def _ask(self, script: str, *words: str, stdin: Optional[Iterator[bytes]] = None) -> Capture:
        command: List[str] = ["sh", "-c", script, "sh", *words]
        done = capture(self.api, self.pod, command, stdin)
        if done.code:
            raise Broken("%s: `%s` ended with %d: %s" % (self.pod.name, script, done.code, done.trouble))
        return done

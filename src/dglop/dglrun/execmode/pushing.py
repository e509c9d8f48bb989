# SPDX-License-Identifier: Apache-2.0
"""One file into a container by exec: its beginning is kept, its sha256 compared, in place only when whole."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterator, List, Mapping, Optional

from ..kube.session import Capture, Pod, capture
from ..kube.websocket import Broken

if TYPE_CHECKING:
    from ..kube.apiserver import ApiServer

__all__ = ("Pusher", "Spoilt")

# head ends by itself: a server of an older protocol cannot tell a command that its input is over
_APPEND = 'mkdir -p "${1%/*}" && head -c "$2" >> "$1"'
_SIZE = 'if [ -f "$1" ]; then wc -c < "$1"; else echo 0; fi'
_DIGEST = 'sha256sum < "$1"'
_WRONG = 9
_PUT = (
    """
folder="$1"; all="$folder/.$3.partial"
mkdir -p "$folder" && head -c "$2" > "$all" || exit 1
case "$(sha256sum < "$all")" in "$3 "*) ;; *) rm -f "$all"; exit %d ;; esac
shift 3
while [ $# -gt 0 ]; do
  tail -c "+$2" "$all" | head -c "$3" > "$all.one" || exit 1
  chmod 644 "$all.one" && mv -f "$all.one" "$folder/$1" || exit 1
  shift 3
done
rm -f "$all"
"""
    % _WRONG
)


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

    def put(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Small files, each whole or not at all, by one command. Raises Spoilt."""
        names = sorted(files)
        content = b"".join(files[name] for name in names)
        digest = hashlib.sha256(content).hexdigest()
        words, start = [folder, str(len(content)), digest], 1
        for name in names:
            words += [name, str(start), str(len(files[name]))]
            start += len(files[name])
        done = capture(self.api, self.pod, ["sh", "-c", _PUT, "sh", *words], iter([content]))
        if done.code == _WRONG:
            raise Spoilt("%s in %s: the files arrived changed" % (folder, self.pod.name))
        if done.code:
            raise Broken(
                "%s: writing to %s ended with %d: %s" % (self.pod.name, folder, done.code, done.trouble)
            )

    def _digest(self, path: str) -> str:
        return self._ask(_DIGEST, path).text.split(" ")[0].strip()

    def _ask(self, script: str, *words: str, stdin: Optional[Iterator[bytes]] = None) -> Capture:
        command: List[str] = ["sh", "-c", script, "sh", *words]
        done = capture(self.api, self.pod, command, stdin)
        if done.code:
            raise Broken("%s: `%s` ended with %d: %s" % (self.pod.name, script, done.code, done.trouble))
        return done

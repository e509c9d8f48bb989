# SPDX-License-Identifier: Apache-2.0
"""A bearer token in a file that the kubelet rotates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.errors import ConfigError
from dglop.runtime.client.usable import header_problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ("TokenFile",)


class TokenFile:
    """Reads the token again once it is older than `reread_seconds`, or when it was refused.

    A file that is empty, missing or no token while it is being rotated leaves the last good token.
    """

    __slots__ = ("_monotonic", "_path", "_read_at", "_reread_seconds", "_token")

    def __init__(self, path: Path, *, reread_seconds: float, monotonic: Callable[[], float]) -> None:
        self._path = path
        self._reread_seconds = reread_seconds
        self._monotonic = monotonic
        self._token = ""
        self._read_at = 0.0
        if not self.reread():
            raise ConfigError(
                f"{path} has no token, or none that fits a line; is the service account's token mounted?"
            )

    def current(self) -> str:
        if self._monotonic() - self._read_at >= self._reread_seconds:
            self.reread()
        return self._token

    def reread(self) -> bool:
        """Reads the file now; True if that gave another token than before."""
        self._read_at = self._monotonic()
        try:
            token = self._path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return False
        if not token or token == self._token or header_problem("token", token, strict=True):
            return False
        self._token = token
        return True

# SPDX-License-Identifier: Apache-2.0
"""The tokens of a job: HMACs of its UID under the operator's own key, so that none need be stored or read."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ("TokenSource", "Tokens")

_KEY_BYTES = 32


class TokenSource(Protocol):
    """Makes and checks the tokens of jobs."""

    def parts(self, uid: str) -> str: ...

    def status(self, uid: str) -> str: ...

    def is_status(self, token: str, uid: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Tokens:
    """Makes and checks the tokens of jobs under one key of at least 32 bytes.

    Raises ValueError for a shorter key.
    """

    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) < _KEY_BYTES:
            raise ValueError(f"the operator's key has {len(self.key)} bytes, it needs {_KEY_BYTES} or more")

    def parts(self, uid: str) -> str:
        """What the Workers of the job with this UID show to its parts server and to each other."""
        return self._token("parts", uid)

    def status(self, uid: str) -> str:
        """What the job with this UID shows when it posts progress."""
        return self._token("status", uid)

    def is_status(self, token: str, uid: str) -> bool:
        """Whether `token` is the status token of `uid`; takes the same time for every wrong one."""
        return hmac.compare_digest(token.encode(), self.status(uid).encode())

    def _token(self, purpose: str, uid: str) -> str:
        if not uid:
            raise ValueError("a job without a UID has no token; it must come from the API server")
        return hmac.new(self.key, f"{uid}:{purpose}".encode(), hashlib.sha256).hexdigest()

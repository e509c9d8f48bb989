# SPDX-License-Identifier: Apache-2.0
"""What the client tells of its requests; dglop.runtime.metrics turns it into Prometheus series."""

from __future__ import annotations

from typing import Protocol

__all__ = ("ClientMetrics",)


class ClientMetrics(Protocol):
    """Is told of every request; `code` is the HTTP status, or "<error>" where no answer came."""

    def request(
        self,
        *,
        method: str,
        host: str,
        code: int | str,
        seconds: float,
        verb: str | None = None,
        sent: int = 0,
    ) -> None: ...

    def received(self, *, verb: str, host: str, size: int) -> None:
        """So many bytes came as the body of an answer; told when it is left, of a watch at its end."""
        ...

    def resolved(self, *, host: str, seconds: float) -> None:
        """The host's name was asked for, not found in memory, and so long it took."""
        ...

    def retry(self, *, code: int | str, verb: str, host: str) -> None: ...

    def waited(self, *, seconds: float, verb: str, host: str) -> None:
        """How long a request was held back by the client's own limit; only where it has one."""
        ...

    def called(self, *, controller: str, verb: str) -> None:
        """One request, tries again included, was made for a controller."""
        ...

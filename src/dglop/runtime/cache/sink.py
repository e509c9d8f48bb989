# SPDX-License-Identifier: Apache-2.0
"""Where a reflector puts what it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.errors import DglopError
    from dglop.runtime.cache.entry import Cached

__all__ = ("Sink",)


class Sink(Protocol):
    """Where a reflector puts what it sees."""

    async def replace(self, objects: list[Cached], version: str) -> None:
        """The whole state as of *version*. The list is the sink's from now on, to be emptied."""

    async def events(self, events: Sequence[tuple[str, Cached]]) -> None: ...

    def alive(self) -> None:
        """Something came from the server."""

    def failed(self, error: DglopError) -> None: ...

    def restarting(self, reason: str) -> None:
        """The whole state will be read again."""

    def awaiting(self, seconds: float) -> None:
        """For so long the initial events of a watch have not ended."""

# SPDX-License-Identifier: Apache-2.0
"""The pages of a list in their order, each asked for as soon as the one before has begun to come."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from dglop.runtime.client.convert import ListMeta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from dglop.runtime.client.convert import Page

    Follow = Callable[[str], None]
    Ask = Callable[[str, Follow], Awaitable[Page]]

__all__ = ("Early", "in_order")

# An API server writes a list's own fields first: Go's order, in which ListMeta comes before the items.
_HEAD = re.compile(rb'\s*\{\s*(?:"(?:kind|apiVersion)"\s*:\s*"[^"\\]*"\s*,\s*)*"metadata"\s*:\s*(\{[^{}]*\})')
_LONGEST = 16 * 1024
_META = msgspec.json.Decoder(ListMeta)


class Early:
    """Tells the token of the next page once, and as early as the answer shows it."""

    def __init__(self, follow: Follow) -> None:
        self._follow = follow
        self._is_known = False

    def look(self, start: bytes) -> bool:
        """Whether there is nothing more to be seen in what follows on the start of an answer."""
        found = _HEAD.match(start)
        if found is None:
            return len(start) > _LONGEST
        with suppress(msgspec.DecodeError):  # the whole answer will say what is wrong
            self.know(_META.decode(found[1]).continue_ or "")
        return True

    def know(self, token: str) -> None:
        if not self._is_known:
            self._is_known = True
            if token:
                self._follow(token)


async def in_order(ask: Ask, *, ahead: int) -> AsyncGenerator[Page, None]:
    """The pages, in order, while at most `ahead` more are on their way or wait to be read.

    `ask` gets the token of a page ("" for the first), gives the page, and before that says the next one's
    token, if there is one. Raises what it raises, in the page's turn; no request outlives this.
    """
    coming: deque[asyncio.Future[Page]] = deque()
    later: list[str] = []

    def follow(token: str) -> None:
        if len(coming) < ahead:
            coming.append(asyncio.ensure_future(ask(token, follow)))
        else:
            later.append(token)

    follow("")
    try:
        while coming:
            page = await coming[0]
            coming.popleft()
            if later:
                follow(later.pop())
            yield page
    finally:
        for each in coming:
            each.cancel()
        # What they failed with interests nobody any more.
        await asyncio.gather(*coming, return_exceptions=True)

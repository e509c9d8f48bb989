# SPDX-License-Identifier: Apache-2.0
"""Pages are asked for as soon as the one before has begun to come, a few at once, and are read in order."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from dglop.errors import GoneError
from dglop.runtime.cache.paging import Early, in_order
from dglop.runtime.client.convert import Page
from dglop.testing.scripted_cache import pod
from dglop.testing.scripted_replies import items, stream
from test.unit.runtime.cache.informers import started

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.testing.scripted import Exchange, ScriptedServer


class _Book:
    """A list of so many pages, each of which comes when it is released, and names the next one at once."""

    def __init__(self, pages: int) -> None:
        self.asked: list[str] = []
        self.ended: list[str] = []
        self._last = str(pages - 1)
        self._released: dict[str, asyncio.Event] = {}
        self._failing: dict[str, Exception] = {}

    def release(self, *tokens: str, error: Exception | None = None) -> None:
        for token in tokens:
            if error is not None:
                self._failing[token] = error
            self._event(token).set()

    async def ask(self, token: str, follow: Callable[[str], None]) -> Page:
        self.asked.append(token)
        try:
            if (token or "0") != self._last:
                follow(str(int(token or "0") + 1))
            await self._event(token).wait()
            if token in self._failing:
                raise self._failing[token]
            return Page(items=[msgspec.Raw(token.encode())])
        finally:
            self.ended.append(token)

    def _event(self, token: str) -> asyncio.Event:
        return self._released.setdefault(token, asyncio.Event())


async def _settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def _token(page: Page) -> str:
    return bytes((page.items or [])[0]).decode()


async def test_so_many_pages_are_on_their_way_and_no_more() -> None:
    book = _Book(6)
    async with aclosing(in_order(book.ask, ahead=3)) as pages:
        first = asyncio.ensure_future(anext(pages))
        await _settled()
        assert book.asked == ["", "1", "2"]
        book.release("")
        await first
        await _settled()
        assert book.asked == ["", "1", "2", "3"]
        book.release("2")  # it waits for its turn, and makes no room for another
        await _settled()
        assert book.asked == ["", "1", "2", "3"]
        book.release("1", "3", "4", "5")
        assert [_token(page) async for page in pages] == ["1", "2", "3", "4", "5"]


async def test_a_page_that_fails_does_so_in_its_turn_and_leaves_no_request_behind() -> None:
    book = _Book(9)
    book.release("1", error=GoneError(410, "Expired", "too old"))
    async with aclosing(in_order(book.ask, ahead=3)) as pages:
        first = asyncio.ensure_future(anext(pages))
        await _settled()
        book.release("")
        assert _token(await first) == ""
        with pytest.raises(GoneError):
            await anext(pages)
    assert len(book.asked) > 2
    assert sorted(book.ended) == sorted(book.asked)


async def test_who_leaves_early_leaves_no_request_behind() -> None:
    book = _Book(9)
    book.release("")
    async with aclosing(in_order(book.ask, ahead=3)) as pages:
        await anext(pages)
    assert len(book.asked) > 1
    assert sorted(book.ended) == sorted(book.asked)


@pytest.mark.parametrize(
    ("start", "told", "is_enough"),
    [
        (
            b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"t"},',
            "t",
            True,
        ),
        (b'{"metadata": {"continue": "t", "remainingItemCount": 3} , "items": []', "t", True),
        (b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[', "", True),
        (b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVer', "", False),
        (b'{"items":[{"metadata":{"continue":"not the list\'s"}}', "", False),
        (b'{"items":[' + b" " * 20_000, "", True),
        (b'{"metadata":{"continue":7}', "", True),
        (b'{"metadata":{"continue":"t\xff"}', "", True),
        (b"<html>", "", False),
    ],
    ids=["go", "spaces", "last page", "unfinished", "items first", "too long", "number", "no utf-8", "html"],
)
def test_the_token_is_told_from_the_start_of_a_list(start: bytes, told: str, is_enough: bool) -> None:
    heard: list[str] = []
    assert Early(heard.append).look(start) is is_enough
    assert "".join(heard) == told


def test_the_token_is_told_once_however_often_it_is_known() -> None:
    heard: list[str] = []
    early = Early(heard.append)
    early.look(b'{"metadata":{"continue":"t"}')
    early.know("t")
    assert heard == ["t"]


@pytest.mark.scripted
async def test_the_next_page_is_asked_for_before_this_one_has_come_whole(
    server: ScriptedServer, make_cache: Any
) -> None:
    async def first(exchange: Exchange) -> None:
        await exchange.start(headers={"Content-Type": "application/json"})
        await exchange.chunk(b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9",')
        await exchange.chunk(b'"continue":"t"},"items":[')
        await server.until(2)  # or the test hangs
        await exchange.chunk(msgspec.json.encode(pod("a", 1)) + b"]}")
        await exchange.end()

    server.lists(first, items([pod("b", 2)], "9"))
    server.watches(stream())
    cache = make_cache(pages=True)
    _, hearer = await started(cache)
    await cache.wait_synced(10)
    assert hearer.heard == ["+a@1!", "+b@2!"]
    assert (await server.until(2))[1].query == {"limit": "250", "continue": "t"}

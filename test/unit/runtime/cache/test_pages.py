# SPDX-License-Identifier: Apache-2.0
"""Whole states in pages, where the API server gives pages from memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.cache import serves_pages
from dglop.runtime.cache.pages import has_pages
from dglop.testing.scripted_cache import pod
from dglop.testing.scripted_replies import answer, event, items, status, stream
from test.unit.runtime.cache.informers import started

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.scripted import ScriptedServer


@pytest.mark.parametrize(
    ("major", "minor", "has"),
    [
        ("1", "34", True),
        ("1", "37+", True),
        ("2", "0", True),
        ("1", "33", False),
        ("", "", False),
        ("1", "x", False),
    ],
)
def test_pages_come_from_memory_since_a_version(major, minor, has) -> None:
    assert has_pages(major, minor) is has


@pytest.mark.scripted
async def test_a_server_that_does_not_tell_its_version_is_taken_for_an_old_one(
    server: ScriptedServer, client: Client
) -> None:
    server.on(lambda seen: seen.path == "/version", status(403, "Forbidden", "no"))
    assert not await serves_pages(client)


@pytest.mark.scripted
async def test_a_state_is_read_in_pages_as_new_as_the_server_has_it(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(items([pod("a", 1)], "9", token="t"), items([pod("b", 2)], "9"))
    server.watches(stream(event("MODIFIED", pod("a", 12))))
    cache = make_cache(pages=True)
    _, hearer = await started(cache)
    await hearer.until("~a@1>12")
    assert hearer.heard == ["+a@1!", "+b@2!", "~a@1>12"]
    first, second, watch = await server.until(3)
    assert first.query == {"limit": "250"}
    assert second.query == {"limit": "250", "continue": "t"}
    assert watch.query["resourceVersion"] == "9"
    assert "sendInitialEvents" not in watch.query


@pytest.mark.scripted
async def test_a_token_that_is_too_old_leads_to_one_list_of_everything(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(
        items([pod("a", 1)], "9", token="t"), status(410, "Expired", "too old"), items([pod("a", 1)], "11")
    )
    server.watches(stream())
    cache = make_cache(pages=True)
    _, hearer = await started(cache)
    await cache.wait_synced(10)
    assert hearer.heard == ["+a@1!"]
    assert (await server.until(3))[2].query == {}


@pytest.mark.scripted
async def test_a_page_that_cannot_be_read_leaves_no_half_state(
    server: ScriptedServer, make_cache: Any
) -> None:
    # The second page may have been asked for by then, or not.
    broken = {"metadata": {"resourceVersion": "9", "continue": "t"}, "items": ["no object"]}
    server.lists(answer(broken), *[items([pod("b", 2)], "10")] * 2)
    server.watches(stream())
    cache = make_cache(pages=True)
    informer, hearer = await started(cache)
    await hearer.until("+b@2!")
    assert "no Kubernetes object came" in informer.health.last_error

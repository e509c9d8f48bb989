# SPDX-License-Identifier: Apache-2.0
"""What a cache says of a failure is true of it, and no louder than it deserves."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import (
    ApiTimeoutError,
    CacheNotSyncedError,
    DglopError,
    ForbiddenError,
    GoneError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
)
from dglop.runtime.cache.telling import telling
from dglop.runtime.log import make_log
from dglop.testing.scripted_replies import items, status, stream, text
from test.unit.runtime.cache.informers import started

if TYPE_CHECKING:
    from dglop.testing.scripted import ScriptedServer

_REMEDY = "apply its CRD, or start with --install-crds if it is a kind of this program"
_WAITING = f"Waiting until the API server serves the kind: {_REMEDY}"
_UNSERVED = f"The API server does not serve the kind: {_REMEDY}"
STARTING = TooManyRequestsError(429, "TooManyRequests", "storage is (re)initializing")
AWAY = NotFoundError(404, "NotFound", "the server could not find the requested resource")


@pytest.mark.parametrize("error", [STARTING, AWAY], ids=["429", "404"])
def test_a_kind_that_is_not_served_yet_is_waited_for_quietly_and_told_when_it_stays_away(
    error: DglopError,
) -> None:
    assert telling(error, 0) == ("info", _WAITING)
    assert telling(error, 9.9).level == "info"
    assert telling(error, 10) == ("warning", _UNSERVED)


@pytest.mark.parametrize(
    ("error", "level", "message"),
    [
        (ApiTimeoutError("no answer"), "warning", "Lost touch with the API server"),
        (ServerError(503, "ServiceUnavailable", ""), "warning", "Lost touch with the API server"),
        (DglopError("no Kubernetes object came"), "warning", "Lost touch with the API server"),
        (GoneError(410, "Expired", ""), "info", "Reading everything anew, since the version is too old"),
        (TooManyRequestsError(429, "TooManyRequests", "slow down"), "warning", "The API server is busy"),
        (ForbiddenError(403, "Forbidden", ""), "warning", "The API server refuses to show the kind"),
    ],
)
def test_touch_is_lost_only_where_no_answer_of_the_api_server_came(
    error: DglopError, level: str, message: str
) -> None:
    assert telling(error, 3600) == (level, message)


@pytest.mark.scripted
async def test_a_crd_that_was_just_installed_costs_no_warning(
    server: ScriptedServer, make_cache: Any
) -> None:
    starting = status(429, "TooManyRequests", STARTING.message)
    server.lists(text("404 page not found", 404), starting, items([], "1"))
    server.watches(stream())
    out = io.StringIO()
    informer, _ = await started(make_cache(streams=False, log=make_log(format_="json", stream=out)))
    await informer.wait_synced(10)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["level"], line["msg"]) for line in lines] == [
        ("info", _WAITING),
        ("info", _WAITING),
        ("info", "Synced cache"),
    ]


@pytest.mark.scripted
async def test_a_kind_without_a_crd_is_named_with_what_to_do(server: ScriptedServer, make_cache: Any) -> None:
    server.lists(*[text("404 page not found", 404)] * 3)
    informer, _ = await started(make_cache(streams=False))
    await server.until(3)
    with pytest.raises(CacheNotSyncedError, match=r"404 NotFound.*is its CRD installed"):
        await informer.wait_synced(0)

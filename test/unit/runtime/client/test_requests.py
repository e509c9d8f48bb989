# SPDX-License-Identifier: Apache-2.0
"""What the client sends, and what it makes of the answers."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from dglop import errors
from dglop.runtime.api import Resource
from dglop.runtime.client import Client, PatchType
from dglop.testing.scripted_replies import answer, drop, items, status, stream, text

if TYPE_CHECKING:
    from dglop.testing.scripted import Exchange, ScriptedServer

pytestmark = pytest.mark.scripted

POD = Resource("", "v1", "Pod", "pods")
WIRE = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}}


def anything(_: object) -> bool:
    return True


async def test_a_get_asks_for_the_object_and_gives_it(server: ScriptedServer, client: Client) -> None:
    server.on(anything, answer(WIRE))
    assert await client.get(POD, "a", "n") == WIRE
    (seen,) = server.requests
    assert (seen.method, seen.path) == ("GET", "/api/v1/namespaces/n/pods/a")
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.headers["user-agent"].startswith("dglop/")


async def test_an_official_model_comes_back_as_one(server: ScriptedServer, client: Client) -> None:
    from kubernetes.aio.client import V1Pod

    server.on(anything, answer({**WIRE, "spec": {"containers": None, "newField": 1}}))
    pod = await client.get(V1Pod, "a")
    assert pod.metadata.name == "a"
    assert pod.spec.containers == []
    assert server.requests[0].path == "/api/v1/namespaces/default/pods/a"


async def test_a_list_follows_its_pages(server: ScriptedServer, client: Client) -> None:
    server.lists(items([WIRE], "5", token="t/1"), items([WIRE, WIRE], "5"))
    found = await client.list(POD, labels="a in (b,c)", fields="x=y")
    assert found == [WIRE, WIRE, WIRE]
    first, second = server.requests
    assert first.path == "/api/v1/pods"
    assert first.query == {"labelSelector": "a in (b,c)", "fieldSelector": "x=y", "limit": "500"}
    assert second.query["continue"] == "t/1"


async def test_a_list_whose_token_expired_is_read_whole(server: ScriptedServer, client: Client) -> None:
    server.lists(items([WIRE], "5", token="t"), status(410, "Expired"), items([WIRE, WIRE], "6"))
    assert len(await client.list(POD)) == 2
    assert "limit" not in server.requests[2].query


async def test_apply_owns_only_what_is_its_own(server: ScriptedServer, client: Client) -> None:
    server.on(anything, answer(WIRE))
    metadata = {"name": "a", "namespace": "n", "resourceVersion": "7", "managedFields": [], "uid": "u"}
    await client.apply({**WIRE, "metadata": metadata, "status": {"x": 1}}, field_manager="me")
    (seen,) = server.requests
    assert (seen.method, seen.headers["content-type"]) == ("PATCH", "application/apply-patch+yaml")
    assert seen.query == {"fieldManager": "me", "force": "true"}
    assert seen.json() == {**WIRE, "metadata": {"name": "a", "namespace": "n", "uid": "u"}}


async def test_a_merge_patch_keeps_its_nulls(server: ScriptedServer, client: Client) -> None:
    server.on(anything, answer(WIRE))
    await client.patch(POD, "a", "n", {"status": {"x": None}}, subresource="status")
    (seen,) = server.requests
    assert seen.path.endswith("/pods/a/status")
    assert seen.headers["content-type"] == "application/merge-patch+json"
    assert seen.json() == {"status": {"x": None}}


async def test_a_patch_of_the_wrong_shape_is_not_sent(server: ScriptedServer, client: Client) -> None:
    with pytest.raises(errors.SchemaError, match="must be a list"):
        await client.patch(POD, "a", "n", {}, how=PatchType.JSON)
    assert server.requests == []


async def test_a_delete_names_the_very_object(server: ScriptedServer, client: Client) -> None:
    server.on(anything, answer({}))
    await client.delete(POD, "a", "n", uid="u", grace_seconds=0)
    body = server.requests[0].json()
    assert body["preconditions"] == {"uid": "u"}
    assert (body["propagationPolicy"], body["gracePeriodSeconds"]) == ("Background", 0)


async def test_a_dry_run_says_so(server: ScriptedServer, client: Client) -> None:
    server.on(anything, answer(WIRE))
    await client.create(WIRE, dry_run=True)
    assert server.requests[0].query == {"dryRun": "All"}


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (400, "BadRequest", errors.BadRequestError),
        (403, "Forbidden", errors.ForbiddenError),
        (404, "NotFound", errors.NotFoundError),
        (409, "Conflict", errors.ConflictError),
        (409, "AlreadyExists", errors.AlreadyExistsError),
        (410, "Expired", errors.GoneError),
        (422, "Invalid", errors.InvalidError),
        (500, "InternalError", errors.ServerError),
        (502, "BadGateway", errors.ServerError),
        (504, "Timeout", errors.ServerError),
    ],
)
@pytest.mark.parametrize("is_json", [True, False])
@pytest.mark.parametrize("is_watch", [True, False])
async def test_an_error_answer_is_a_typed_error_whatever_its_body(
    server: ScriptedServer,
    client: Client,
    *,
    code: int,
    reason: str,
    kind: type,
    is_json: bool,
    is_watch: bool,
) -> None:
    if not is_json and reason == "AlreadyExists":
        kind = errors.ConflictError  # only the body could have told
    server.on(anything, status(code, reason, "so it is") if is_json else text("<html>so it is</html>", code))
    watch = client.stream("/api/v1/pods", query={"watch": "true"}, read_idle=5)
    with pytest.raises(errors.ApiError) as caught:
        await (anext(watch) if is_watch else client.create(WIRE))
    assert type(caught.value) is kind
    assert caught.value.status == code
    assert "so it is" in str(caught.value)
    assert len(server.requests) == 1


async def test_a_page_of_html_with_200_is_an_error(server: ScriptedServer, client: Client) -> None:
    server.on(anything, text("<html>log in</html>"))
    with pytest.raises(errors.ServerError, match="log in"):
        await client.get(POD, "a")
    with pytest.raises(errors.ServerError, match="log in"):
        await client.list(POD)


async def test_a_broken_connection_says_that_the_request_may_have_arrived(
    server: ScriptedServer, client: Client
) -> None:
    server.on(anything, drop)
    with pytest.raises(errors.ApiConnectionError) as caught:
        await client.create(WIRE)
    assert caught.value.sent


async def test_lines_of_any_length_come_whole(server: ScriptedServer, client: Client) -> None:
    lines = [b"x" * size for size in (1, 3_000_000, 8_000_000, 2)]
    server.watches(stream(*(line + b"\n" for line in lines), then="end"))
    found = [line async for line in client.stream("/w", query={"watch": "true"}, read_idle=30)]
    assert found == lines


@pytest.mark.parametrize("how", ["cut", "reset"])
async def test_a_line_that_was_cut_is_dropped_and_the_break_reported(
    server: ScriptedServer, client: Client, how: str
) -> None:
    async def reply(exchange: Exchange) -> None:
        await exchange.start(200)
        await exchange.chunk(b'{"whole":1}\n{"half"')
        await go_on.wait()
        exchange.cut() if how == "cut" else exchange.reset()

    import asyncio

    go_on = asyncio.Event()
    server.watches(reply)
    lines = client.stream("/w", query={"watch": "true"}, read_idle=30)
    assert await anext(lines) == b'{"whole":1}'
    go_on.set()
    with pytest.raises(errors.ApiConnectionError) as caught:
        await anext(lines)
    assert caught.value.sent


async def test_a_silent_stream_times_out(server: ScriptedServer, client: Client) -> None:
    server.watches(stream())
    with pytest.raises(errors.ApiTimeoutError):
        await anext(client.stream("/w", query={"watch": "true"}, read_idle=0.05))


async def test_a_server_that_never_answers_costs_no_more_than_the_budget(
    server: ScriptedServer, client: Client
) -> None:
    server.on(anything, stream())
    with pytest.raises(errors.ApiTimeoutError):
        await client.raw("POST", "/x", body=b"{}", timeout=0.05)


async def test_leaving_a_stream_closes_its_connection(server: ScriptedServer, client: Client) -> None:
    import asyncio

    closed = asyncio.Event()

    async def reply(exchange: Exchange) -> None:
        await exchange.start(200)
        await exchange.chunk(b"1\n")
        await exchange.gone()
        closed.set()

    server.watches(reply)
    async with aclosing(client.stream("/w", query={"watch": "true"}, read_idle=30)) as lines:
        await anext(lines)
    await closed.wait()


async def test_many_writes_use_one_connection(server: ScriptedServer, client: Client) -> None:
    server.on(anything, answer(WIRE))
    for _ in range(50):
        await client.patch(POD, "a", "n", {})
    assert server.connections == 1

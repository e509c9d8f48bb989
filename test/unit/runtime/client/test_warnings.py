# SPDX-License-Identifier: Apache-2.0
"""Warnings of the API server reach people, once."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from dglop.errors import InvalidError
from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.client.warnings import warnings_of
from dglop.runtime.log import make_log
from dglop.testing.scripted_replies import answer

if TYPE_CHECKING:
    from dglop.testing.scripted import ScriptedServer

POD = Resource("", "v1", "Pod", "pods")
WIRE = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ('299 - "unknown field \\"spec.x\\""', ['unknown field "spec.x"']),
        ('299 - "one", 299 kube "two, too"', ["one", "two, too"]),
        ('199 - "not meant for us"', []),
        ("299 - unquoted", []),
        ("", []),
    ],
)
def test_a_warning_header_is_read(header: str, texts: list[str]) -> None:
    assert warnings_of([header]) == texts


@pytest.mark.scripted
async def test_a_warning_is_logged_once_however_often_it_comes(
    server: ScriptedServer,
) -> None:
    server.on(
        lambda _: True,
        answer(WIRE, headers={"Warning": '299 - "old version"'}),
        answer(WIRE, headers={"Warning": '299 - "old version", 299 - "odd value"'}),
    )
    lines = io.StringIO()
    log = make_log(format_="json", stream=lines)
    async with await Client.connect(ClientConfig(host=server.url), log=log) as client:
        for _ in range(3):
            await client.get(POD, "a")
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [line["warning"] for line in told] == ["old version", "odd value"]


@pytest.mark.scripted
async def test_a_view_hears_of_the_warnings_of_its_own_calls_and_they_are_logged_as_well(
    server: ScriptedServer,
) -> None:
    server.on(lambda seen: seen.path.endswith("/a"), answer(WIRE, headers={"Warning": '299 - "odd"'}))
    server.on(lambda _: True, answer(WIRE, 201, {"Warning": '299 - "unknown field \\"spec.x\\""'}))
    everything: list[str] = []
    own: list[str] = []
    config = ClientConfig(host=server.url)
    async with await Client.connect(config, on_warning=everything.append) as client:
        await client.get(POD, "a")
        await client.with_warnings(own.append).create(WIRE)
        await client.create(WIRE)
    assert own == ['unknown field "spec.x"']
    assert everything == ["odd", *own, *own]


@pytest.mark.scripted
async def test_a_handler_of_ones_own_gets_every_warning_that_of_a_refusal_too(server: ScriptedServer) -> None:
    wire = {"kind": "Status", "code": 422, "reason": "Invalid", "message": "no"}
    refusal = answer(wire, 422, {"Warning": '299 - "also odd"'})
    server.on(lambda _: True, answer(WIRE, headers={"Warning": '299 - "odd"'}), refusal)
    told: list[str] = []
    config = ClientConfig(host=server.url)
    async with await Client.connect(config, on_warning=told.append) as client:
        await client.get(POD, "a")
        with pytest.raises(InvalidError):
            await client.create(WIRE)
    assert told == ["odd", "also odd"]

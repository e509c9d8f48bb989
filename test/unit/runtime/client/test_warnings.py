# SPDX-License-Identifier: Apache-2.0
"""Warnings of the API server reach people, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from dglop.errors import InvalidError
from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.client.warnings import warnings_of
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
    server: ScriptedServer, client: Client
) -> None:
    server.on(
        lambda _: True,
        answer(WIRE, headers={"Warning": '299 - "old version"'}),
        answer(WIRE, headers={"Warning": '299 - "old version", 299 - "odd value"'}),
    )
    with capture_logs() as lines:
        for _ in range(3):
            await client.get(POD, "a")
    told = [line["warning"] for line in lines if line["event"] == "API server warned"]
    assert told == ["old version", "odd value"]


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

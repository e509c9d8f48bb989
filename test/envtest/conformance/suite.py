# SPDX-License-Identifier: Apache-2.0
"""All cases, and how one is run: in a namespace of its own, its answers written down."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.runtime.client import Client
from dglop.runtime.crdinstall import CRD, is_established
from test.envtest.conformance import (
    cases_apply,
    cases_deletes,
    cases_kinds,
    cases_objects,
    cases_patches,
    cases_reads,
    cases_rules,
    cases_schema,
    cases_status,
    cases_watches,
)
from test.envtest.conformance.api import Api
from test.envtest.conformance.objects import GADGET_CRD, GAUGE_CRD, WIDGET_CRD

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from dglop.runtime.client import ClientConfig

    Case = Callable[[Api], Awaitable[None]]
    Connect = Callable[[Callable[[str], object]], AbstractAsyncContextManager[Client]]

ANSWERS = Path(__file__).with_name("answers.json")
_MODULES = (
    cases_objects,
    cases_status,
    cases_deletes,
    cases_kinds,
    cases_patches,
    cases_apply,
    cases_reads,
    cases_watches,
    cases_schema,
    cases_rules,
)
CASES: dict[str, Case] = {case.__name__: case for module in _MODULES for case in module.CASES}


async def prepare(client: Client) -> None:
    """Install the kinds that the cases use."""
    for crd in (WIDGET_CRD, GADGET_CRD, GAUGE_CRD):
        await client.create(crd)
        while not is_established(await client.get(CRD, crd["metadata"]["name"])):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)


async def answers_of(name: str, connect: Connect) -> list[Any]:
    """What a server answers in the case *name*, as JSON says it; *connect* is given who hears warnings."""
    namespace = f"c-{uuid.uuid4().hex[:6]}"
    heard: list[Callable[[str], object]] = []
    async with connect(lambda text: [hear(text) for hear in heard]) as client:
        await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        api = Api(client, namespace)
        heard.append(api.warn)
        await CASES[name](api)
    answers: list[Any] = msgspec.json.decode(msgspec.json.encode(api.answers))
    return answers


def connecting(config: ClientConfig) -> Connect:
    """Connections to a server that is found by *config*."""

    @asynccontextmanager
    async def connect(on_warning: Callable[[str], object]) -> AsyncIterator[Client]:
        async with await Client.connect(config, on_warning=on_warning) as client:
            yield client

    return connect


@cache
def recorded() -> dict[str, list[Any]]:
    """What a real API server answered in each case; `record` writes it anew."""
    found: dict[str, list[Any]] = msgspec.json.decode(ANSWERS.read_bytes())
    return found

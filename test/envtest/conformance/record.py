# SPDX-License-Identifier: Apache-2.0
"""Writes down anew what a real API server answers: `python -m test.envtest.conformance.record [cases]`."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.runtime.client import Client, ClientConfig
from dglop.testing.envtest import Envtest
from test.envtest.conformance.suite import ANSWERS, CASES, answers_of, connecting, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence


def render(found: dict[str, list[Any]]) -> str:
    """The answers as JSON, an answer a line."""
    parts = []
    for name, answers in found.items():
        lines = ",\n".join(msgspec.json.encode(each).decode() for each in answers)
        parts.append(f'"{name}":[\n{lines}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


async def _record(names: Sequence[str]) -> None:
    found: dict[str, list[Any]] = msgspec.json.decode(ANSWERS.read_bytes()) if names else {}
    async with Envtest() as server:
        config = ClientConfig(kubeconfig=str(server.kubeconfig))
        async with await Client.connect(config) as client:
            await prepare(client)
        for name in names or CASES:
            found[name] = await answers_of(name, connecting(config))
    ordered = {name: found[name] for name in CASES if name in found}
    ANSWERS.write_text(render(ordered), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(_record(sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""A credential plugin is run again before its token ends, and no oftener."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.client.kubeconfig import read_kubeconfig
from dglop.testing.clock import ManualClock
from dglop.testing.scripted_replies import answer, status
from test.unit.contract.kubeconfigs import plugin, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dglop.testing.scripted import Exchange, ScriptedServer

POD = Resource("", "v1", "Pod", "pods")
UNTIL = datetime(2099, 1, 1, tzinfo=UTC)


def said(token: str, until: datetime) -> dict[str, str]:
    return {"token": token, "expirationTimestamp": until.isoformat().replace("+00:00", "Z")}


@pytest.mark.scripted
async def test_a_plugins_token_that_ends_is_renewed_before_it_does(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.on(lambda _: True, answer({"kind": "Pod", "metadata": {"name": "a"}}))
    user = plugin(tmp_path, said("first", UNTIL))
    path = write(tmp_path / "config", user=user, cluster={"server": server.url})
    clock = ManualClock(UNTIL - timedelta(minutes=2))
    async with await Client.connect(ClientConfig(kubeconfig=str(path)), clock=clock) as client:
        plugin(tmp_path, said("second", UNTIL + timedelta(hours=1)))
        await client.get(POD, "a", "n")
        clock.move(80)
        await client.get(POD, "a", "n")
        clock.move(20)
        await client.get(POD, "a", "n")
    tokens = [each.headers["authorization"] for each in server.requests]
    assert tokens == ["Bearer first", "Bearer first", "Bearer second"]


class WallClock(ManualClock):
    """A clock whose time of day somebody sets while seconds go by as ever."""

    wrong_by = timedelta()

    def now(self) -> datetime:
        return super().now() + self.wrong_by


def counted(folder: Path, token: str, until: datetime) -> dict[str, Any]:
    """A plugin that notes each of its runs in the file `runs`."""
    user, program = plugin(folder, said(token, until)), folder / "plugin"
    program.write_text(program.read_text().replace("cat", f"echo run >> {folder}/runs\ncat", 1))
    return user


def runs(folder: Path) -> int:
    return (folder / "runs").read_text().count("run")


@pytest.mark.scripted
async def test_by_a_clock_that_is_hours_ahead_no_plugin_runs_for_every_request(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.on(lambda _: True, answer({"kind": "Pod", "metadata": {"name": "a"}}))
    path = write(tmp_path / "config", user=counted(tmp_path, "x", UNTIL), cluster={"server": server.url})
    clock = WallClock(UNTIL - timedelta(hours=2))
    async with await Client.connect(ClientConfig(kubeconfig=str(path)), clock=clock) as client:
        clock.wrong_by = timedelta(hours=4)
        for _ in range(5):
            await client.get(POD, "a", "n")
        assert runs(tmp_path) == 2
        clock.move(11)
        await asyncio.gather(*(client.get(POD, "a", "n") for _ in range(5)))
        assert runs(tmp_path) == 3
        clock.wrong_by = timedelta()
        clock.move(11)
        await client.get(POD, "a", "n")
        assert runs(tmp_path) == 3


@pytest.mark.scripted
async def test_of_many_that_are_refused_at_once_one_renews_and_all_go_on(
    server: ScriptedServer, tmp_path: Path
) -> None:
    async def reply(exchange: Exchange) -> None:
        is_new = exchange.request.headers["authorization"] == "Bearer second"
        good = answer({"kind": "Pod", "metadata": {"name": "a"}})
        await (good if is_new else status(401, "Unauthorized"))(exchange)

    server.on(lambda _: True, reply)
    path = write(tmp_path / "config", user=counted(tmp_path, "first", UNTIL), cluster={"server": server.url})
    clock = ManualClock(UNTIL - timedelta(days=1))
    async with await Client.connect(ClientConfig(kubeconfig=str(path)), clock=clock) as client:
        counted(tmp_path, "second", UNTIL)
        await asyncio.gather(*(client.get(POD, "a", "n") for _ in range(20)))
    assert runs(tmp_path) == 2


@pytest.mark.scripted
async def test_whoever_turns_to_another_cluster_meanwhile_does_not_take_the_program_along(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.on(lambda _: True, answer({"kind": "Pod", "metadata": {"name": "a"}}))
    user = plugin(tmp_path, said("first", UNTIL))
    mine = write(tmp_path / "mine", user=user, cluster={"server": server.url})
    current = write(tmp_path / "current", cluster={"server": "http://127.0.0.1:1"}, name="production")
    current.write_text("current-context: here")
    clock = ManualClock(UNTIL - timedelta(hours=2))
    config = ClientConfig(kubeconfig=f"{current}:{mine}")
    async with await Client.connect(config, clock=clock) as client:
        await client.get(POD, "a", "n")
        write(current, cluster={"server": "http://127.0.0.1:1"}, name="production")
        plugin(tmp_path, said("second", UNTIL + timedelta(hours=2)))
        clock.move(7200)
        await client.get(POD, "a", "n")
    tokens = [each.headers["authorization"] for each in server.requests]
    assert tokens == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("harm", [Path.unlink, partial(Path.write_text, data="CER")])
def test_what_the_loader_wrote_to_tmp_is_written_anew_where_it_is_not_whole(
    tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    data = base64.b64encode(f"CERT of {tmp_path}".encode()).decode()
    path = write(tmp_path / "config", user={"token": "x"}, cluster={"certificate-authority-data": data})

    def ca_file() -> Path:
        return Path(asyncio.run(read_kubeconfig(str(path))).endpoint.ca_file or "")

    first = ca_file()
    assert first == ca_file()
    harm(first)
    assert ca_file().read_text() == f"CERT of {tmp_path}"

# SPDX-License-Identifier: Apache-2.0
"""A Manager's start and stop, its servers and checks, and what ends it."""

from __future__ import annotations

import asyncio
import io
import socket
from typing import Any

import aiohttp
import pytest

from dglop import Context, CustomResource, Manager, Owned, Resource, Settings, Spec, Status
from dglop.errors import CacheNotSyncedError, ConfigError, DglopError
from dglop.runtime.log import make_log
from dglop.runtime.serving import HttpRequest, HttpResponse, HTTPServer, Route

PATH = "/apis/example.dev/v1/namespaces/default/greetings"
LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases/dglop"
TEAM_LEASE_PATH = LEASE_PATH.replace("dglop", "team")
POD = Resource("", "v1", "Pod", "pods")


class Greeting(CustomResource[Spec, Status], group="example.dev", version="v1"):
    """A kind for tests."""


async def do_nothing(obj: Greeting, ctx: Context) -> None:
    return


def make_manager(api, name: str = "dglop", /, **settings: Any) -> Manager:
    options = Settings(**{"metrics_bind": "0", "health_bind": "0", **settings})
    log = make_log(level="error", stream=io.StringIO())
    return Manager(options, name=name, config=api.config, log=log)


class Probe:
    """A Runnable that notes when it begins and ends."""

    def __init__(self, name: str, notes: list[str]) -> None:
        self.name = name
        self.notes = notes
        self.started = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        self.notes.append(f"{self.name} began")
        self.started.set()
        await stop.wait()
        self.notes.append(f"{self.name} ended")


class Failing:
    async def run(self, stop: asyncio.Event) -> None:
        raise OSError("the disk is full")


@pytest.mark.scripted
async def test_preparations_come_before_runnables_and_those_of_the_leader_end_last(api):
    notes: list[str] = []

    async def prepare(client) -> None:
        notes.append("prepared")

    manager = make_manager(api)
    leader, other = Probe("leader", notes), Probe("other", notes)
    manager.add(leader)
    manager.add(other, needs_leader=False)
    manager.on_start(prepare)
    async with manager:
        await leader.started.wait()
        await other.started.wait()
    assert notes == ["prepared", "other began", "leader began", "other ended", "leader ended"]


@pytest.mark.scripted
async def test_a_runnable_that_fails_ends_the_manager_with_its_error(api):
    manager = make_manager(api)
    probe = Probe("other", [])
    manager.add(probe)
    manager.add(Failing())
    with pytest.raises(OSError, match="the disk is full"):
        await manager.run()
    assert probe.notes == ["other began", "other ended"]


@pytest.mark.scripted
async def test_run_returns_when_it_is_asked_to_stop(api):
    stop, probe = asyncio.Event(), Probe("other", [])
    manager = make_manager(api)
    manager.add(probe)
    running = asyncio.create_task(manager.run(stop))
    await probe.started.wait()
    stop.set()
    await running


@pytest.mark.scripted
async def test_a_process_that_does_not_lead_starts_no_controller_not_even_while_it_stops(api):
    """Regression of controller-runtime #2719."""
    lease = {
        "holderIdentity": "other",
        "leaseDurationSeconds": 3600,
        "renewTime": "2026-01-01T00:00:00.000000Z",
    }
    await api.put(LEASE_PATH, {"kind": "Lease", "spec": lease})
    await api.put(
        f"{PATH}/hello", {"kind": "Greeting", "metadata": {"name": "hello", "namespace": "default"}}
    )
    calls, probe, other = [], Probe("leader", []), Probe("other", [])

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        calls.append(obj.name)

    manager = make_manager(api, leader_elect=True)
    manager.controller(Greeting, reconcile)
    manager.add(probe)
    manager.add(other, needs_leader=False)
    async with manager:
        await api.server.until(1, lambda seen: seen.path == LEASE_PATH)
        await other.started.wait()
        assert not manager.elected.is_set()
    assert (calls, probe.notes) == ([], [])
    assert api.objects[LEASE_PATH]["spec"] == lease


@pytest.mark.scripted
async def test_a_leader_gives_the_lease_back_after_its_runnables_have_ended(api):
    holders: list[str] = []

    class Watching(Probe):
        async def run(self, stop: asyncio.Event) -> None:
            await super().run(stop)
            holders.append(api.objects[LEASE_PATH]["spec"]["holderIdentity"])

    manager = make_manager(api, leader_elect=True)
    probe = Watching("leader", [])
    manager.add(probe)
    async with manager:
        await probe.started.wait()
        assert manager.elected.is_set()
    assert holders[0] != ""
    assert api.objects[LEASE_PATH]["spec"]["holderIdentity"] == ""


async def test_a_manager_without_a_name_does_not_stand_for_election_unasked(api):
    """Two of them in one namespace would share a lease, and one would wait for ever without a word."""
    settings = Settings(metrics_bind="0", health_bind="0", leader_elect=True)
    with pytest.raises(ConfigError, match=r"a name of its own, as in Manager\(name=.*--leader-election-id"):
        await Manager(settings, config=api.config).start()


@pytest.mark.scripted
async def test_a_manager_without_a_name_may_be_told_its_lease(api):
    settings = Settings(metrics_bind="0", health_bind="0", leader_elect=True, leader_election_id="mine")
    async with Manager(settings, config=api.config) as manager:
        await manager.elected.wait()


@pytest.mark.scripted
async def test_two_programs_of_different_names_in_one_namespace_lead_both_and_own_their_fields(api):
    first, second = make_manager(api, leader_elect=True), make_manager(api, "team", leader_elect=True)
    async with first as one, second as two:
        await one.elected.wait()
        await two.elected.wait()
        holders = [api.objects[path]["spec"]["holderIdentity"] for path in (LEASE_PATH, TEAM_LEASE_PATH)]
        assert len(set(holders)) == 2
        for manager in (one, two):
            page = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "page"}}
            await manager.client.apply(page)
    applied = api.writes(ending="/configmaps/page")
    assert [each.query["fieldManager"] for each in applied] == ["dglop", "team"]


@pytest.mark.scripted
async def test_health_and_metrics_are_served(api):
    def unwell() -> None:
        raise DglopError("the moon is full")

    manager = make_manager(api, metrics_bind="127.0.0.1:0", health_bind="127.0.0.1:0")
    manager.controller(Greeting, do_nothing)
    manager.add_check("moon", unwell)
    async with manager, aiohttp.ClientSession() as session:
        health = f"http://127.0.0.1:{manager.ports['health']}"

        async def get(url: str) -> tuple[int, str]:
            async with session.get(url) as answer:
                return answer.status, await answer.text()

        assert await get(f"{health}/healthz") == (200, "ok")
        status, text = await get(f"{health}/readyz")
        assert status == 500
        assert "[-]moon failed: the moon is full" in text
        assert await get(f"{health}/readyz?exclude=moon") == (200, "ok")
        assert await get(f"{health}/readyz?exclude=informers&exclude=moon") == (200, "ok")
        assert "[+]informers ok" in (await get(f"{health}/readyz?verbose&exclude=moon"))[1]
        assert (await get(f"{health}/readyz/informers"))[0] == 200
        assert (await get(f"{health}/readyz/sun"))[0] == 404
        status, text = await get(f"http://127.0.0.1:{manager.ports['metrics']}/metrics")
        assert 'controller_runtime_max_concurrent_reconciles{controller="greeting"} 1.0' in text
        assert "rest_client_requests_total" in text


async def test_an_occupied_port_is_a_sentence_that_says_what_to_do():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = HTTPServer(f"127.0.0.1:{port}", [], name="health", log=make_log(stream=io.StringIO()))
        with pytest.raises(
            ConfigError, match=f"cannot listen on 127.0.0.1:{port} for health.*choose another"
        ):
            await server.start()


@pytest.mark.scripted
async def test_a_route_gets_plain_values_and_a_body_over_its_limit_is_refused():
    seen: list[HttpRequest] = []

    async def handle(request: HttpRequest) -> HttpResponse:
        seen.append(request)
        return HttpResponse(202, b"{}", content_type="application/json")

    routes = [Route("POST", "/jobs/{name}/progress", handle, max_body=10)]
    server = HTTPServer("127.0.0.1:0", routes, name="progress", log=make_log(stream=io.StringIO()))
    await server.start()
    url = f"http://127.0.0.1:{server.port}/jobs/mnist/progress"

    async def chunks():
        for _ in range(4):
            yield b"x" * 8

    async with aiohttp.ClientSession() as session:
        async with session.post(f"{url}?a=b", data=b"hello", headers={"X-Token": "t"}) as answer:
            assert (answer.status, answer.content_type) == (202, "application/json")
        for data in (b"x" * 11, chunks()):
            async with session.post(url, data=data) as answer:
                assert answer.status == 413
        async with session.get(url) as answer:
            assert answer.status == 405
    await server.stop()
    (request,) = seen
    assert (request.params, request.query, request.body) == ({"name": "mnist"}, {"a": "b"}, b"hello")
    assert request.headers["x-token"] == "t"


def test_two_selectors_for_one_kind_are_refused():
    manager = Manager(Settings(), log=make_log(stream=io.StringIO()))
    manager.controller(Greeting, do_nothing, owns=[Owned(POD, labels="a=b")])
    with pytest.raises(ConfigError, match="selected by 'a=b' already"):
        manager.select(POD, "a=c")


def test_client_and_cache_come_with_the_start():
    manager = Manager(Settings(), log=make_log(stream=io.StringIO()))
    with pytest.raises(CacheNotSyncedError, match="does not run yet"):
        _ = manager.cache


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (["--renew-deadline", "20"], "must be longer than --renew-deadline"),
        (["--retry-period", "9"], "must be longer than 1.2 times --retry-period"),
        (["--retry-period", "soon"], "--retry-period: Input should be a valid number"),
        (["--log-format", "xml"], "--log-format"),
    ],
)
def test_flags_that_do_not_fit_end_the_program_with_a_sentence(argv, text, capsys):
    manager = Manager(Settings(), name="greeter", log=make_log(stream=io.StringIO()))
    with pytest.raises(SystemExit) as ended:
        manager.main(argv)
    assert ended.value.code == 2
    assert text in capsys.readouterr().err


def test_a_variable_that_does_not_fit_is_named(monkeypatch):
    monkeypatch.setenv("DGLOP_LEASE_DURATION", "soon")
    with pytest.raises(ConfigError, match="DGLOP_LEASE_DURATION"):
        Settings.from_environment()


def test_a_flag_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("DGLOP_NAMESPACE", "one")
    monkeypatch.setenv("DGLOP_LOG_LEVEL", "debug")
    settings = Settings.from_environment().with_flags(["--namespace", "two", "--leader-elect"])
    assert (settings.namespace, settings.log_level, settings.leader_elect) == ("two", "debug", True)

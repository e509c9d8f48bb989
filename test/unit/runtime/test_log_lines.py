# SPDX-License-Identifier: Apache-2.0
"""What a log line looks like."""

from __future__ import annotations

import asyncio
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
import structlog
from kubernetes.aio.client import V1ConfigMap

import dglop.runtime
from dglop import Context, Manager, Request, Settings
from dglop.runtime.log import make_log
from test.unit.runtime.controller_world import PATH, Greeting, greeting, settled

PLAIN: list[Any] = [structlog.contextvars.merge_contextvars, structlog.processors.JSONRenderer()]


def test_a_line_is_json_with_message_level_time_and_what_was_bound():
    out = io.StringIO()
    make_log(stream=out).bind(controller="jobs").info("Created pod", pod="p-0")
    line = json.loads(out.getvalue())
    assert line.pop("ts").endswith("Z")
    assert line == {"msg": "Created pod", "level": "info", "controller": "jobs", "pod": "p-0"}


def test_an_error_is_told_with_its_place_and_not_with_what_its_variables_held():
    out, secret = io.StringIO(), "token-1234"
    try:
        int("many")
    except ValueError:
        make_log(stream=out).exception("Reconciler failed")
    line = json.loads(out.getvalue())
    assert line["error"] == "ValueError: invalid literal for int() with base 10: 'many'"
    assert "test_log_lines.py" in line["stack"][0]
    assert secret not in out.getvalue()


def test_what_is_below_the_level_is_not_written():
    out = io.StringIO()
    make_log(stream=out, level="warning").info("Created pod")
    assert out.getvalue() == ""


@pytest.mark.scripted
async def test_the_lines_of_one_reconcile_share_an_id_and_the_next_reconcile_has_another(api):
    out = io.StringIO()
    said: asyncio.Queue[str] = asyncio.Queue()

    async def reconcile(obj: V1ConfigMap, ctx: Context) -> None:
        ctx.log.info("Said good day")
        said.put_nowait(ctx.request.name)

    page = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "page", "namespace": "default"}}
    await api.put("/api/v1/namespaces/default/configmaps/page", page)
    log = make_log(format_="json", level="debug", stream=out)
    manager = Manager(Settings(metrics_bind="0", health_bind="0"), config=api.config, log=log)
    controller = manager.controller(V1ConfigMap, reconcile)
    async with manager:
        assert await said.get() == "page"
        await controller.queue.wait_idle()
        controller.queue.add(Request("default", "page"))
        assert await said.get() == "page"
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    told = [(line["msg"], line["reconcileID"]) for line in lines if "reconcileID" in line]
    assert [message for message, _ in told] == ["Reconciling", "Said good day"] * 2
    first, same, second, same_again = [identity for _, identity in told]
    assert first == same
    assert second == same_again
    assert first != second


@pytest.mark.scripted
async def test_the_lines_of_a_reconcile_have_controller_runtimes_fields(api):
    out = io.StringIO()

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        ctx.log.info("Said good day")
        structlog.wrap_logger(structlog.WriteLogger(out), processors=PLAIN).info("From elsewhere")
        obj.status.mood = "fine"

    await api.put(f"{PATH}/hello", greeting())
    log = make_log(format_="json", stream=out)
    manager = Manager(Settings(metrics_bind="0", health_bind="0"), config=api.config, log=log)
    manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    said = next(line for line in lines if line.get("msg") == "Said good day")
    names = {"controller": "greeting", "namespace": "default", "name": "hello"}
    assert {**said, **names, "controllerGroup": "example.dev", "controllerKind": "Greeting"} == said
    elsewhere = next(line for line in lines if line.get("event") == "From elsewhere")
    assert {**elsewhere, **names, "reconcileID": said["reconcileID"]} == elsewhere


@pytest.mark.scripted
async def test_what_client_and_cache_say_goes_to_the_managers_log_and_nowhere_else(api, capsys):
    async def reconcile(obj: V1ConfigMap, ctx: Context) -> None:
        return

    out = io.StringIO()
    log = make_log(format_="json", stream=out)
    manager = Manager(Settings(metrics_bind="0", health_bind="0"), config=api.config, log=log)
    manager.controller(V1ConfigMap, reconcile)
    async with manager:
        pass
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert ("Synced cache", "configmaps") in [(line["msg"], line.get("kind")) for line in lines]
    assert capsys.readouterr().out == ""


def test_no_part_of_the_runtime_asks_for_the_loggers_of_the_process():
    runtime = Path(dglop.runtime.__file__).parent
    askers = [
        path.name
        for path in runtime.rglob("*.py")
        if re.search(r"get_logger|getLogger\(__|structlog\.stdlib", path.read_text())
    ]
    assert askers == []


class Disk(io.StringIO):
    """A stream of which the disk may be full."""

    problem: Exception | None = None

    def write(self, text: str) -> int:
        return super().write(text) if self.problem is None else self._fail(self.problem)

    def _fail(self, problem: Exception) -> int:
        raise problem


@pytest.mark.parametrize(
    "problem",
    [OSError(28, "No space left on device"), BrokenPipeError(), ValueError("closed"), UnicodeError()],
)
def test_a_line_that_cannot_be_written_is_lost_and_the_next_is_not(problem: Exception):
    out = Disk()
    log = make_log(stream=out)
    out.problem = problem
    log.error("on a full disk")
    out.problem = None
    log.info("on an emptied one")
    assert json.loads(out.getvalue())["msg"] == "on an emptied one"


def test_a_process_without_stderr_has_a_log_all_the_same(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stderr", None)
    for format_ in ("auto", "json", "console"):
        make_log(format_=format_).info("to nobody")

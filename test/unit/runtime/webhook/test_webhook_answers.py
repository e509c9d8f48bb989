# SPDX-License-Identifier: Apache-2.0
"""Whatever a webhook's function does, the API server gets a well-formed answer in time."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dglop.errors import ApiConnectionError, DglopError, InvalidError
from dglop.runtime.log import make_log
from dglop.runtime.metrics import Metrics
from dglop.runtime.serving import HttpRequest
from dglop.runtime.webhook import DeniedError, Spoke, Webhooks
from dglop.runtime.webhook.answer import Answers, seconds_left
from dglop.runtime.webhook.call import Surroundings
from dglop.runtime.webhook.metrics import WebhookMetrics
from dglop.testing.clock import ManualClock

from .admission_kinds import Greeting, wire
from .test_admission import no_client
from .test_conversions import Hub, Old, from_hub, old_wire, to_hub

JSON = {"content-type": "application/json; charset=utf-8"}


def review(**request: Any) -> bytes:
    request = {"uid": "u", "operation": "CREATE", "object": wire(), **request}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "request": request}).encode()


def conversion_review(*objects: dict[str, Any], version: str = "example.dev/v1beta1") -> bytes:
    request = {"uid": "u", "desiredAPIVersion": version, "objects": objects}
    return json.dumps({"apiVersion": "apiextensions.k8s.io/v1", "request": request}).encode()


class World:
    """Answers to requests, without a server."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self.clock = ManualClock()
        self.metrics = Metrics()
        self.out = io.StringIO()
        self.webhooks = Webhooks()
        log = make_log(format_="json", stream=self.out)
        around = Surroundings(no_client, self.clock, log, threads)
        self.answers = Answers(around, WebhookMetrics(self.metrics, ["/convert"]))

    async def ask(
        self, function: Any, body: bytes = b"", patience: str = "10s", headers=JSON
    ) -> dict[str, Any]:
        hook = self.webhooks.register(Greeting, function, mutating=False)
        assert hook is not None
        request = HttpRequest("POST", hook.path, query={"timeout": patience}, headers=headers, body=body)
        answer = await self.answers.admission(hook, request)
        assert (answer.status, answer.content_type) == (200, "application/json")
        found: dict[str, Any] = json.loads(answer.body)
        assert found["kind"] == "AdmissionReview"
        response: dict[str, Any] = found["response"]
        return response

    async def convert(self, spoke: Any, body: bytes) -> dict[str, Any]:
        self.webhooks.conversion(Hub, spoke)
        request = HttpRequest("POST", "/convert", headers=JSON, body=body)
        answer = await self.answers.conversion(self.webhooks.conversions, request)
        assert (answer.status, answer.content_type) == (200, "application/json")
        found: dict[str, dict[str, Any]] = json.loads(answer.body)
        return found["response"]

    def count(self, name: str) -> float | None:
        return self.metrics.registry.get_sample_value(name)


@pytest.fixture
def world():
    with ThreadPoolExecutor(4) as threads:
        yield World(threads)


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [("10s", 9.0), ("1s", 0.9), ("30s", 29.0), ("1m", 29.0), ("500ms", 0.45), ("", 4.5), ("soon", 4.5)],
)
def test_a_function_gets_somewhat_less_time_than_the_api_server_has(timeout, seconds):
    assert seconds_left(timeout, default=5) == pytest.approx(seconds)


async def test_a_bug_is_answered_counted_and_logged(world):
    def validate(obj, ctx):
        return obj.labels["nothing"]

    response = await world.ask(validate, review())
    assert response == {
        "uid": "u",
        "allowed": False,
        "status": {"code": 500, "message": "KeyError: 'nothing'", "reason": "InternalError"},
    }
    assert world.count("controller_runtime_webhook_panics_total") == 1
    assert "validate-example-dev-v1-greeting" in world.out.getvalue()


async def test_an_error_that_is_no_bug_is_not_counted_as_one(world):
    async def validate(obj, ctx):
        raise DglopError("the moon is full")

    response = await world.ask(validate, review())
    assert response["status"] == {"code": 403, "message": "the moon is full", "reason": "Forbidden"}
    assert world.count("controller_runtime_webhook_panics_total") == 0


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("odd"), {"code": 403, "message": "odd", "reason": "Forbidden"}),
        (OSError(), {"code": 403, "message": "OSError", "reason": "Forbidden"}),
        (
            InvalidError(422, "Invalid", "no such queue", {"kind": "Queue"}),
            {"code": 422, "message": "no such queue", "reason": "Invalid", "details": {"kind": "Queue"}},
        ),
        (
            ApiConnectionError("nobody there", sent=False),
            {"code": 403, "message": "ConnectionError: nobody there", "reason": "Forbidden"},
        ),
    ],
    ids=["an error", "one without words", "an answer of the API server", "none of it"],
)
async def test_an_error_refuses_as_it_does_in_controller_runtime(world, error, status):
    async def validate(obj, ctx):
        ctx.warn("look out")
        raise error

    response = await world.ask(validate, review())
    assert response == {"uid": "u", "allowed": False, "status": status, "warnings": ["look out"]}


async def test_a_coroutine_that_hangs_is_answered_for_when_its_time_is_up(world):
    ended = asyncio.Event()

    async def validate(obj, ctx):
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    asking = asyncio.create_task(world.ask(validate, review(), patience="5s"))
    await world.clock.advance(4.4)
    assert not asking.done()
    await world.clock.advance(0.2)
    response = await asking
    assert response["status"]["code"] == 500
    assert response["status"]["message"] == "the webhook's function took longer than 4.5 s"
    assert ended.is_set()


async def test_a_thread_that_hangs_is_answered_for_without_waiting_for_it(world):
    begun, release = threading.Event(), threading.Event()

    def validate(obj, ctx):
        begun.set()
        release.wait()

    asking = asyncio.create_task(world.ask(validate, review()))
    await asyncio.to_thread(begun.wait)
    await world.clock.advance(10)
    response = await asking
    release.set()
    assert response["status"]["message"] == "the webhook's function took longer than 9 s"


async def test_a_timeout_of_the_functions_own_is_told_as_its_own(world):
    async def validate(obj, ctx):
        raise TimeoutError("the database was slow")

    response = await world.ask(validate, review())
    assert "the database was slow" in response["status"]["message"]


@pytest.mark.parametrize(
    ("body", "headers", "message"),
    [
        (b"<html>", JSON, "no AdmissionReview"),
        (b"", JSON, "no AdmissionReview"),
        (review(), {}, "must be application/json, not of no type"),
        (review(), {"content-type": "text/plain"}, "not text/plain"),
    ],
)
async def test_what_is_no_review_is_answered_as_a_bad_request(world, body, headers, message):
    response = await world.ask(lambda obj, ctx: None, body, headers=headers)
    assert (response["allowed"], response["status"]["code"]) == (False, 400)
    assert message in response["status"]["message"]


async def test_a_denial_is_no_error(world):
    def validate(obj, ctx):
        raise DeniedError("no")

    response = await world.ask(validate, review())
    assert response["status"] == {"code": 403, "message": "no", "reason": "Forbidden"}
    assert world.out.getvalue() == ""


async def test_a_conversion_gives_its_objects(world):
    response = await world.convert(Spoke(Old, to_hub, from_hub), conversion_review(old_wire()))
    assert response["result"] == {"status": "Success"}
    assert [each["spec"] for each in response["convertedObjects"]] == [{"texts": ["good", "day"]}]


async def test_a_conversion_that_fails_says_so_in_its_own_form_and_the_next_one_works(world):
    def sometimes(old: Old) -> Hub:
        if old.spec.text == "bad":
            raise IndexError("string index out of range")
        return to_hub(old)

    spoke = Spoke(Old, sometimes, from_hub)
    response = await world.convert(spoke, conversion_review(old_wire(), old_wire(text="bad")))
    assert response["convertedObjects"] == []
    assert response["result"] == {"status": "Failed", "message": "IndexError: string index out of range"}
    assert world.count("controller_runtime_conversion_webhook_panics_total") == 1
    world.webhooks.conversions.clear()
    assert (await world.convert(spoke, conversion_review(old_wire())))["result"]["status"] == "Success"


async def test_a_stored_object_that_does_not_fit_is_named(world):
    response = await world.convert(Spoke(Old, to_hub, from_hub), conversion_review(old_wire(text=7)))
    assert response["result"]["status"] == "Failed"
    assert (
        "Greeting default/hello cannot be converted to example.dev/v1beta1" in response["result"]["message"]
    )


async def test_what_is_no_conversion_review_is_a_bad_request(world):
    answer = await world.answers.conversion({}, HttpRequest("POST", "/convert", headers=JSON, body=b"{}"))
    assert answer.status == 400

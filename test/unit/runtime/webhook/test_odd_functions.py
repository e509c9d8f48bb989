# SPDX-License-Identifier: Apache-2.0
"""Functions of a webhook that end in ways no function should still get an answer, as the bugs they are."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dglop.runtime.serving import HttpRequest
from dglop.runtime.webhook import DeniedError, Spoke
from test.unit.runtime.test_user_code import BUGS, ends_a_generator, exits, recurses, says_it_was_cancelled
from test.unit.runtime.test_user_code import ends_an_iteration as ends

from .test_conversions import Old, from_hub, old_wire
from .test_webhook_answers import JSON, World, conversion_review, review


@pytest.fixture
def world():
    with ThreadPoolExecutor(4) as threads:
        yield World(threads)


def warns_with_a_number(_: Any, ctx: Any) -> None:
    ctx.warn(5)


def audits_an_object(_: Any, ctx: Any) -> None:
    ctx.audit("key", object())


RECONCILERS_OWN = ("applies_and_does_not_wait", "returns_a_number_of_seconds")
ODD = [each for each, _ in BUGS if getattr(each, "__name__", "") not in RECONCILERS_OWN]


@pytest.mark.parametrize("function", [*ODD, warns_with_a_number, audits_an_object])
async def test_a_validators_oddest_end_is_an_internal_error_that_is_counted(
    world: Any, function: Any
) -> None:
    response = await world.ask(function, review())
    assert (response["allowed"], response["status"]["reason"]) == (False, "InternalError")
    assert world.count("controller_runtime_webhook_panics_total") == 1


@pytest.mark.parametrize("answer", [False, True, "no", {}])
async def test_a_validator_that_returns_its_verdict_is_told_how_to_give_it(world: Any, answer: Any) -> None:
    response = await world.ask(lambda obj, ctx: answer, review())
    assert response["status"]["message"].startswith(
        f"TypeError: <lambda> returned a {type(answer).__name__}; return None, and raise DeniedError"
    )


@pytest.mark.parametrize("function", [ends, says_it_was_cancelled, exits, ends_a_generator, recurses])
async def test_a_conversions_oddest_end_is_a_failed_conversion(world: Any, function: Any) -> None:
    response = await world.convert(Spoke(Old, function, from_hub), conversion_review(old_wire()))
    assert response["result"]["status"] == "Failed"
    assert world.count("controller_runtime_conversion_webhook_panics_total") == 1


async def converts(obj: Any) -> Any:
    return obj


@pytest.mark.parametrize("function", [converts, lambda obj: None, lambda obj: "text"])
async def test_a_conversion_that_gives_no_object_is_named(world: Any, function: Any) -> None:
    response = await world.convert(Spoke(Old, function, from_hub), conversion_review(old_wire()))
    assert f"{function.__name__} returned a" in response["result"]["message"]


@pytest.mark.parametrize("answer", ["bob", True])
async def test_an_authenticator_that_gives_no_user_authenticates_nobody(world: Any, answer: Any) -> None:
    body = {"apiVersion": "authentication.k8s.io/v1", "spec": {"token": "secret"}}
    request = HttpRequest("POST", "/authenticate", headers=JSON, body=json.dumps(body).encode())
    found = json.loads((await world.answers.authentication("/a", lambda *_: answer, request)).body)
    assert found["status"]["authenticated"] is False
    assert "return a User, or None" in found["status"]["error"]


async def test_words_that_are_no_unicode_reach_the_client_as_far_as_they_can(world: Any) -> None:
    async def validate(obj: Any, ctx: Any) -> None:
        ctx.warn("odd \ud800")
        raise DeniedError("odd \ud800")

    response = await world.ask(validate, review())
    assert (response["status"]["message"], response["warnings"]) == ("odd ?", ["odd ?"])


async def test_a_request_whose_caller_goes_away_is_still_cancelled(world: Any) -> None:
    started = asyncio.Event()

    async def validate(obj: Any, ctx: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    asking = asyncio.create_task(world.ask(validate, review()))
    await started.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

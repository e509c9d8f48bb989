# SPDX-License-Identifier: Apache-2.0
"""Authentication webhooks: whom a token belongs to, in the API server's form."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import ConfigError, SchemaError
from dglop.runtime.access import User
from dglop.runtime.log import make_log
from dglop.runtime.metrics import Metrics
from dglop.runtime.serving import HttpRequest
from dglop.runtime.webhook import Authenticator, Webhooks
from dglop.runtime.webhook.answer import Answers
from dglop.runtime.webhook.authentication import read_token_review
from dglop.runtime.webhook.call import Surroundings
from dglop.runtime.webhook.metrics import WebhookMetrics
from dglop.testing.clock import ManualClock

from .test_admission import no_client

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECRET = "hush-4711-hush"  # in no path that a stack may show
V1, V1BETA1 = "authentication.k8s.io/v1", "authentication.k8s.io/v1beta1"


def review(token: str = "t-ann", version: str = V1, **spec: Any) -> bytes:
    return json.dumps(
        {"apiVersion": version, "kind": "TokenReview", "spec": {"token": token, **spec}}
    ).encode()


def who(token: str, audiences: Sequence[str]) -> User | None:
    if token == _SECRET:
        raise KeyError("bug")
    return User("ann", "1", ("dev",), {"scopes": ["x"]}) if token == "t-ann" else None


async def asked(body: bytes, function: Authenticator = who) -> tuple[dict[str, Any], str]:
    out = io.StringIO()
    with ThreadPoolExecutor(1) as threads:
        around = Surroundings(no_client, ManualClock(), make_log(format_="json", stream=out), threads)
        request = HttpRequest(
            "POST", "/authenticate", headers={"content-type": "application/json"}, body=body
        )
        answers = Answers(around, WebhookMetrics(Metrics(), ["/authenticate"]))
        answer = await answers.authentication("/authenticate", function, request)
    assert (answer.status, answer.content_type) == (200, "application/json")
    found: dict[str, Any] = json.loads(answer.body)
    return found, out.getvalue()


@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_a_known_token_is_somebodys_for_the_audiences_that_were_asked_for(version):
    found, _ = await asked(review(version=version, audiences=["api"]))
    assert found == {
        "apiVersion": version,
        "kind": "TokenReview",
        "status": {
            "authenticated": True,
            "audiences": ["api"],
            "user": {"username": "ann", "uid": "1", "groups": ["dev"], "extra": {"scopes": ["x"]}},
        },
    }


async def test_an_unknown_token_is_nobodys_without_being_an_error():
    found, told = await asked(review("t-eve"))
    assert found["status"] == {"authenticated": False}
    assert told == ""


async def test_a_bug_lets_nobody_in_and_tells_no_token():
    found, told = await asked(review(_SECRET))
    assert found["status"] == {"authenticated": False, "error": "KeyError: 'bug'"}
    assert "Webhook failed" in told
    assert _SECRET not in told


async def test_a_coroutine_function_may_say_it_too():
    async def function(token: str, audiences: Sequence[str]) -> User:
        return User(f"{token} for {', '.join(audiences)}")

    found, _ = await asked(review(audiences=["a", "b"]), function)
    assert found["status"]["user"] == {"username": "t-ann for a, b"}


@pytest.mark.parametrize("body", [b"", b"{}", b'{"spec":{}}', review(version="v9")])
async def test_what_is_no_token_review_lets_nobody_in(body):
    with pytest.raises(SchemaError, match="TokenReview"):
        read_token_review(body)
    found, _ = await asked(body)
    assert found["status"]["authenticated"] is False
    assert "TokenReview" in found["status"]["error"]


def test_a_path_is_served_by_one():
    webhooks = Webhooks()
    webhooks.authentication(who)
    assert webhooks.paths == ["/authenticate"]
    with pytest.raises(ConfigError, match="/authenticate is served already"):
        webhooks.authentication(who)

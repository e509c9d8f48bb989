# SPDX-License-Identifier: Apache-2.0
"""From an HTTP request of the API server to the HTTP answer: well-formed and in time, whatever happens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from dglop.errors import DglopError, SchemaError
from dglop.runtime.access import User
from dglop.runtime.clock import within
from dglop.runtime.outcome import BUGS
from dglop.runtime.serving import HttpResponse
from dglop.runtime.usercode import name_of
from dglop.runtime.webhook.admission import admit
from dglop.runtime.webhook.authentication import VERSIONS as TOKEN_VERSIONS
from dglop.runtime.webhook.authentication import read_token_review, write_token_review
from dglop.runtime.webhook.call import call_function
from dglop.runtime.webhook.conversion import PATH, convert_review, read_conversion, write_conversion
from dglop.runtime.webhook.review import VERSIONS, errored, read_review, write_review

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from dglop.runtime.serving import HttpRequest
    from dglop.runtime.webhook.authentication import Authenticator
    from dglop.runtime.webhook.call import Surroundings
    from dglop.runtime.webhook.conversion import Converter
    from dglop.runtime.webhook.metrics import WebhookMetrics
    from dglop.runtime.webhook.registry import Hook

__all__ = ("Answers", "seconds_left")

MAX_SECONDS = 29.0
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
R = TypeVar("R")


def seconds_left(timeout: str, *, default: float) -> float:
    """
    How long a webhook may take for its work, from the API server's `?timeout=10s`.

    A tenth, at most a second, is kept back for the way, so that our sentence arrives before their patience
    ends; and it is never more than the HTTP server's own limit.
    """
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)", timeout)
    wanted = float(parts[1]) * UNITS[parts[2]] if parts else default
    return min(wanted - min(wanted / 10, 1.0), MAX_SECONDS)


class _FunctionTimeoutError(DglopError):
    """A TimeoutError of the user's own, which is not ours."""


class Answers:
    """
    Answers the requests of one webhook server.

    Guarantees: an error of a function, a function that takes too long and a body that is no review are each
    answered in the review's own form; only a conversion that is no ConversionReview is a plain 400.
    """

    def __init__(self, surroundings: Surroundings, metrics: WebhookMetrics) -> None:
        self._around = surroundings
        self._metrics = metrics

    async def admission(self, hook: Hook, request: HttpRequest) -> HttpResponse:
        """The answer to an AdmissionReview."""
        try:
            _check_json(request)
            version, admission = read_review(request.body)
        except SchemaError as error:
            return _json(write_review(VERSIONS[0], "", errored(str(error), code=400)))
        limit = seconds_left(request.query.get("timeout", ""), default=hook.options.timeout_seconds)
        work = admit(hook.steps, admission, self._around)
        response, failure = await self._attempt(hook.path, limit, work, about=str(admission))
        return _json(write_review(version, admission.uid, response or errored(failure)))

    async def conversion(
        self, conversions: dict[tuple[str, str], Converter], request: HttpRequest
    ) -> HttpResponse:
        """The answer to a ConversionReview."""
        threads = self._around.threads  # for all of it: a list of thousands of objects may come in one review
        try:
            _check_json(request)
            uid, version, objects = await call_function(read_conversion, request.body, threads=threads)
        except SchemaError as error:
            return HttpResponse(400, f"{error}\n")
        limit = seconds_left(request.query.get("timeout", ""), default=MAX_SECONDS)
        work = call_function(convert_review, conversions, objects, version, threads=threads)
        converted, failure = await self._attempt(PATH, limit, work, about=f"{len(objects)} to {version}")
        if converted is None:
            return _json(write_conversion(uid, [], failure=failure))
        return _json(await call_function(write_conversion, uid, converted, threads=threads))

    async def authentication(self, path: str, function: Authenticator, request: HttpRequest) -> HttpResponse:
        """The answer to a TokenReview; tokens are never logged."""
        try:
            _check_json(request)
            version, token, audiences = read_token_review(request.body)
        except SchemaError as error:
            return _json(write_token_review(TOKEN_VERSIONS[0], None, failure=str(error)))
        limit = seconds_left(request.query.get("timeout", ""), default=MAX_SECONDS)
        work = self._user_of(function, token, audiences)
        user, failure = await self._attempt(path, limit, work, about="a token")
        return _json(write_token_review(version, user, audiences, failure=failure))

    async def _user_of(self, function: Authenticator, token: str, audiences: list[str]) -> User | None:
        user = await call_function(function, token, audiences, threads=self._around.threads)
        if not isinstance(user, User | None):
            # The token may be in it, so only the type is told.
            raise TypeError(f"{name_of(function)} returned a {type(user).__name__}; return a User, or None")
        return user

    async def _attempt(
        self, path: str, limit: float, work: Coroutine[Any, Any, R], *, about: str
    ) -> tuple[R | None, str]:
        """What *work* gave, or None and why."""
        log = self._around.log.bind(webhook=path, request=about)
        try:
            return await within(self._around.clock, limit, _marked(work)), ""
        except TimeoutError:
            log.warning("Webhook took too long", seconds=limit)
            return None, f"the webhook's function took longer than {limit:g} s"
        except SchemaError as error:
            log.warning("Webhook could not answer", error=str(error))
            return None, str(error)
        except Exception as error:
            # As in a controller's worker: one bad request must not end the others.
            if isinstance(error, BUGS):
                self._metrics.panic(path)
            log.exception("Webhook failed")
            return None, f"{type(error).__name__}: {error}"


async def _marked(work: Coroutine[Any, Any, R]) -> R:
    try:
        return await work
    except TimeoutError as error:
        raise _FunctionTimeoutError(f"TimeoutError: {error}") from error


def _check_json(request: HttpRequest) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type != "application/json":
        raise SchemaError(f"the body must be application/json, not {media_type or 'of no type'}")


def _json(body: bytes) -> HttpResponse:
    return HttpResponse(body=body, content_type="application/json")

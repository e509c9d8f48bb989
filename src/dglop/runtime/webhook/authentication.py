# SPDX-License-Identifier: Apache-2.0
"""Authentication webhooks: the API server asks whom a bearer token belongs to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from dglop.errors import SchemaError
from dglop.runtime.access import User
from dglop.runtime.client.convert import UNREADABLE
from dglop.runtime.webhook.review import written

__all__ = ("Authenticator", "read_token_review", "write_token_review")

VERSIONS = ("authentication.k8s.io/v1", "authentication.k8s.io/v1beta1")

Authenticator: TypeAlias = Callable[[str, Sequence[str]], Awaitable[User | None] | User | None]
"""Gets a token and the audiences it is meant for; gives whose it is, or None if it is not known."""


class _Spec(msgspec.Struct):
    token: str = ""
    audiences: list[str] | None = None


class _Review(msgspec.Struct, rename="camel"):
    api_version: str = VERSIONS[0]
    spec: _Spec | None = None


def read_token_review(body: bytes) -> tuple[str, str, list[str]]:
    """The apiVersion to answer in, the token and the audiences. Raises SchemaError for no TokenReview."""
    try:
        review = msgspec.json.decode(body, type=_Review)
    except UNREADABLE as problem:
        raise SchemaError(f"the body is no TokenReview: {problem}") from problem
    if review.api_version not in VERSIONS:
        raise SchemaError(f"a TokenReview of {review.api_version} is not understood; {VERSIONS[0]} is")
    if review.spec is None or not review.spec.token:
        raise SchemaError("the TokenReview has no token")
    return review.api_version, review.spec.token, review.spec.audiences or []


def write_token_review(
    version: str, user: User | None, audiences: Sequence[str] = (), *, failure: str = ""
) -> bytes:
    """The TokenReview that says whose the token is: nobody's if *user* is None, or there was a *failure*."""
    status: dict[str, Any] = {"authenticated": user is not None and not failure}
    if failure:
        status["error"] = failure
    elif user is not None:
        extra = {name: list(values) for name, values in user.extra.items()}
        pairs = (("username", user.name), ("uid", user.uid), ("groups", list(user.groups)), ("extra", extra))
        status["user"] = {key: value for key, value in pairs if value}
        if audiences:
            status["audiences"] = list(audiences)
    return written({"apiVersion": version, "kind": "TokenReview", "status": status})

# SPDX-License-Identifier: Apache-2.0
"""From an HTTP answer to a typed error: the one place where status codes get their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from dglop.errors import (
    AlreadyExistsError,
    ApiError,
    BadRequestError,
    ConflictError,
    FieldConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
)

__all__ = ("error_of_answer", "error_of_status")

_SHOWN = 300


def error_of_answer(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> ApiError:
    """The error that a non-2xx answer means; a body that is no Status object is quoted in part."""
    after = _seconds((headers or {}).get("Retry-After"))
    try:
        wire = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        wire = None
    if isinstance(wire, dict) and wire.get("kind") == "Status":
        return error_of_status(wire, status=status, retry_after=after)
    text = " ".join(body.decode("utf-8", "replace").split())
    quoted = f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text
    message = f"the answer was no Kubernetes status: {quoted}" if quoted else "the answer was empty"
    return _class_of(status, "")(status, _phrase(status), message, None, after)


def error_of_status(
    wire: Mapping[str, Any], *, status: int | None = None, retry_after: float | None = None
) -> ApiError:
    """The error that a metav1.Status object means, as an answer or as an ERROR event of a watch."""
    code = status or wire.get("code") or 0
    if not isinstance(code, int) or isinstance(code, bool):
        code = 0
    reason = str(wire.get("reason") or _phrase(code))
    found = wire.get("details")
    details = dict(found) if isinstance(found, Mapping) else {}
    if retry_after is None:
        retry_after = _seconds(details.get("retryAfterSeconds"))
    kind = _class_of(code, reason)
    if kind is ConflictError and _is_about_fields(details):
        kind = FieldConflictError
    return kind(code, reason, str(wire.get("message") or ""), details, retry_after)


_CLASSES: dict[int, type[ApiError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    422: InvalidError,
    429: TooManyRequestsError,
}


def _class_of(code: int, reason: str) -> type[ApiError]:
    if reason == "AlreadyExists":
        return AlreadyExistsError
    if reason in ("Expired", "Gone"):
        return GoneError
    if code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerError
    return _CLASSES.get(code, ApiError)


def _is_about_fields(details: Mapping[str, Any]) -> bool:
    causes = details.get("causes")
    return isinstance(causes, list) and any(
        isinstance(each, Mapping) and each.get("reason") == "FieldManagerConflict" for each in causes
    )


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase.replace(" ", "")
    except ValueError:
        return "Unknown"


def _seconds(value: object) -> float | None:
    # Retry-After may also be a date; the API server never sends one, and guessing is worse than none.
    try:
        seconds = float(str(value))
    except ValueError:
        return None
    return seconds if seconds > 0 else None

# SPDX-License-Identifier: Apache-2.0
"""How a reflector's failure is told: in words that are true of it, and as loudly as it deserves."""

from __future__ import annotations

from typing import Literal, NamedTuple

from dglop.errors import (
    ApiConnectionError,
    ApiError,
    DglopError,
    GoneError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
)

__all__ = ("SETTLING_SECONDS", "Telling", "is_unserved", "telling")

SETTLING_SECONDS = 10.0
"""How long a kind may be away before that is worth a warning: a new or changed CRD takes a moment."""

_REMEDY = "apply its CRD, or start with --install-crds if it is a kind of this program"


class Telling(NamedTuple):
    """One line of the log."""

    level: Literal["info", "warning"]
    message: str


def is_unserved(error: DglopError) -> bool:
    """Whether the API server answers, but serves no such kind: not yet, or not any more."""
    # A CRD that has just been established answers 404 for a moment, then 429 until its storage is ready.
    is_starting = isinstance(error, TooManyRequestsError) and "storage is (re)initializing" in error.message
    return is_starting or isinstance(error, NotFoundError)


def telling(error: DglopError, seconds: float) -> Telling:
    """What to say of a failure, after failures of `seconds` in a row."""
    if is_unserved(error):
        if seconds < SETTLING_SECONDS:
            return Telling("info", f"Waiting until the API server serves the kind: {_REMEDY}")
        return Telling("warning", f"The API server does not serve the kind: {_REMEDY}")
    if isinstance(error, GoneError):
        return Telling("info", "Reading everything anew, since the version is too old")
    if isinstance(error, ApiConnectionError | ServerError) or not isinstance(error, ApiError):
        return Telling("warning", "Lost touch with the API server")
    if isinstance(error, TooManyRequestsError):
        return Telling("warning", "The API server is busy")
    return Telling("warning", "The API server refuses to show the kind")

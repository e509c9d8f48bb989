# SPDX-License-Identifier: Apache-2.0
"""The exceptions of dglop, one tree.

DglopError
├── ConfigError                 settings, kubeconfig or credentials cannot be used
├── SchemaError                 data does not fit its type
├── CacheNotSyncedError         a cache was read before its first list was complete
├── LeaderLostError             leadership ended while work was going on
├── StopTimeoutError            something still ran when the time for stopping was over
├── AlreadyOwnedError           another controller owns the object
├── TerminalError               reconciling again cannot help: do not retry
└── ApiError                    a request to the API server failed
    ├── BadRequestError         400
    ├── UnauthorizedError       401
    ├── ForbiddenError          403
    ├── NotFoundError           404
    │   └── NoKindMatchError    the API server serves no such kind
    ├── ConflictError           409, the object changed meanwhile
    │   └── FieldConflictError  409, another field manager owns a field
    ├── AlreadyExistsError      409, the name is taken
    ├── GoneError               410, the resource version is too old
    ├── InvalidError            422
    ├── TooManyRequestsError    429
    ├── ServerError             5xx
    └── ApiConnectionError      no answer came
        └── ApiTimeoutError     no answer came in time
"""

from __future__ import annotations

from typing import Any

__all__ = (
    "AlreadyExistsError",
    "AlreadyOwnedError",
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "BadRequestError",
    "CacheNotSyncedError",
    "ConfigError",
    "ConflictError",
    "DglopError",
    "FieldConflictError",
    "ForbiddenError",
    "GoneError",
    "InvalidError",
    "LeaderLostError",
    "NoKindMatchError",
    "NotFoundError",
    "SchemaError",
    "ServerError",
    "StopTimeoutError",
    "TerminalError",
    "TooManyRequestsError",
    "UnauthorizedError",
)


class DglopError(Exception):
    """The base of all errors that dglop raises on purpose."""


class ConfigError(DglopError):
    """Settings, kubeconfig or credentials cannot be used; the message says which and what to do."""


class SchemaError(DglopError):
    """Data does not fit its type; the message names the object and the path in it."""


class CacheNotSyncedError(DglopError):
    """A cache was read before its first list was complete, so an absent object proves nothing."""


class LeaderLostError(DglopError):
    """Leadership ended; whoever gets this must stop writing at once."""


class StopTimeoutError(DglopError):
    """Something still ran when the graceful time was over, and was cancelled; the message names it."""


class AlreadyOwnedError(DglopError):
    """An object has a controller already; the message names both."""


class TerminalError(DglopError):
    """Reconciling again cannot help: the controller counts it and does not retry."""


class ApiError(DglopError):
    """A request to the API server failed.

    `retry_after` is the server's wish in seconds. `status` is 0 where no answer came.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(status, reason, message, details, retry_after)
        self.status = status
        self.reason = reason
        self.message = message
        self.details: dict[str, Any] = details or {}
        self.retry_after = retry_after

    def __str__(self) -> str:
        head = f"{self.status} {self.reason}".strip() if self.status else self.reason
        return f"{head}: {self.message}" if self.message else head


class BadRequestError(ApiError):
    """400: the server could not read the request."""


class UnauthorizedError(ApiError):
    """401: the credentials were not accepted."""


class ForbiddenError(ApiError):
    """403: not allowed, or beyond a quota."""


class NotFoundError(ApiError):
    """404: no such object, or no such resource."""


class NoKindMatchError(NotFoundError):
    """The API server serves no kind of this name, also after its list of kinds was read again."""

    def __init__(self, message: str) -> None:
        super().__init__(404, "NoKindMatch", message)


class ConflictError(ApiError):
    """409: the object changed since it was read."""


class FieldConflictError(ConflictError):
    """409: another field manager owns a field that was applied without force; the message names both."""


class AlreadyExistsError(ApiError):
    """409: an object of this name exists."""


class GoneError(ApiError):
    """410: the resource version or continue token is too old; list again."""


class InvalidError(ApiError):
    """422: the server understood the object and refuses it."""


class TooManyRequestsError(ApiError):
    """429: slow down; `retry_after` says for how long."""


class ServerError(ApiError):
    """5xx: the server, or something before it, failed."""


class ApiConnectionError(ApiError):
    """No answer came.

    `sent` is False only where the request certainly never reached the server.
    """

    def __init__(self, message: str, *, sent: bool, reason: str = "ConnectionError") -> None:
        super().__init__(0, reason, message)
        self.sent = sent


class ApiTimeoutError(ApiConnectionError):
    """No answer came in time; the request may have been carried out."""

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message, sent=sent, reason="Timeout")

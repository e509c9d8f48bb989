# SPDX-License-Identifier: Apache-2.0
"""Faults that a test orders: which requests go wrong, and how."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from dglop.runtime.api.resource import resource_of
from dglop.testing.memory.refusal import RefusalError

if TYPE_CHECKING:
    from dglop.runtime.api.resource import Kind
    from dglop.testing.memory.request import Request

__all__ = ("Effect", "Fault", "Faults")

_REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class Effect(StrEnum):
    """What happens to a request."""

    ANSWER = "answer"
    """It is refused with a status."""
    RESET = "reset"
    """The connection ends before the server has done anything."""
    LOSE = "lose"
    """The server does it, and the answer is lost with the connection."""
    HANG = "hang"
    """No answer comes: the client's own deadline ends it."""
    DELAY = "delay"
    """It is done, later."""


@dataclass(slots=True)
class Fault:
    """
    One order: the requests that it is about, and what happens to them.

    The first `skip` matching requests pass, then `times` of them are struck. `hits` counts those.
    """

    effect: Effect
    method: str = ""
    path: str = ""
    subresource: str = ""
    name: str = ""
    is_watch: bool | None = None
    agent: str = ""
    skip: int = 0
    times: int = 1
    status: int = 500
    message: str = "injected by the test"
    retry_after: float | None = None
    seconds: float = 0.0
    hits: int = 0

    def matches(self, request: Request) -> bool:
        if self.method and request.method != self.method:
            return False
        if self.is_watch is not None and request.is_watch is not self.is_watch:
            return False
        if self.agent and request.headers.get("user-agent") != self.agent:
            return False
        parts = request.path.split("/")
        if self.path and not _is_of(request.path, self.path):
            return False
        if self.subresource and parts[-1] != self.subresource:
            return False
        if self.name and self.name not in parts[-2:]:
            return False
        return not (self.path and not self.subresource and self.name and parts[-1] != self.name)

    def refusal(self) -> RefusalError:
        """What is answered, for ANSWER."""
        reason = _REASONS.get(self.status, "InternalError")
        details = {"retryAfterSeconds": int(self.retry_after)} if self.retry_after else {}
        return RefusalError(self.status, reason, self.message, details, retry_after=self.retry_after)


class Faults:
    """The orders of a test, asked in order; each one is spent when it has struck often enough."""

    def __init__(self) -> None:
        self._orders: list[Fault] = []

    def add(
        self,
        effect: Effect | int,
        method: str = "",
        kind: Kind | None = None,
        *,
        name: str = "",
        subresource: str = "",
        skip: int = 0,
        times: int = 1,
        retry_after: float | None = None,
        seconds: float = 0.0,
        message: str = "injected by the test",
        watch: bool | None = None,
        agent: str = "",
    ) -> Fault:
        """
        Strike *times* requests after *skip* that pass; an effect that is a number is the answer's status.

        *agent* means the requests of the clients with this user agent.

        The order given back tells by `hits` how often it struck.
        """
        status = effect if isinstance(effect, int) else 500
        fault = Fault(
            Effect.ANSWER if isinstance(effect, int) else effect,
            method=method,
            path=_path_of(kind) if kind is not None else "",
            name=name,
            subresource=subresource,
            is_watch=watch,
            agent=agent,
            skip=skip,
            times=times,
            status=status,
            message=message,
            retry_after=retry_after,
            seconds=seconds,
        )
        return self.order(fault)

    def order(self, fault: Fault) -> Fault:
        """Add an order, as one of a kind of its own with another `matches`."""
        self._orders.append(fault)
        return fault

    def clear(self) -> None:
        """Withdraw all orders."""
        self._orders.clear()

    def strike(self, request: Request) -> Fault | None:
        """The order that strikes *request*, counted."""
        for fault in self._orders:
            if not fault.matches(request):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            if fault.hits < fault.times:
                fault.hits += 1
                return fault
        return None


def _path_of(kind: Kind) -> str:
    """The kind's resource as prefix|plural."""
    resource = resource_of(kind)
    return f"{'/apis/' if resource.group else '/api/'}{resource.api_version}|{resource.plural}"


def _is_of(path: str, wanted: str) -> bool:
    """Whether *path* is of the resource that *wanted* says as prefix|plural."""
    prefix, _, plural = wanted.partition("|")
    if not path.startswith(f"{prefix}/"):
        return False
    parts = path.removeprefix(f"{prefix}/").split("/")
    if parts[0] == "namespaces" and len(parts) > 2:
        parts = parts[2:]
    return parts[0] == plural

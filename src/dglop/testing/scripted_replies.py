# SPDX-License-Identifier: Apache-2.0
"""Answers for a ScriptedServer: objects, lists, errors, watches and their many bad ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dglop.testing.scripted import Exchange, Reply

__all__ = ("answer", "bookmark", "drop", "event", "expired", "items", "silence", "status", "stream", "text")

_JSON = {"Content-Type": "application/json"}


def answer(wire: Any, code: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """One JSON answer."""

    async def reply(exchange: Exchange) -> None:
        await exchange.send(
            code, json.dumps(wire, separators=(",", ":")).encode(), {**_JSON, **(headers or {})}
        )

    return reply


def text(body: str, code: int = 200, content_type: str = "text/html") -> Reply:
    """An answer that no API server gives, such as a proxy's page."""

    async def reply(exchange: Exchange) -> None:
        await exchange.send(code, body.encode(), {"Content-Type": content_type})

    return reply


def status(code: int, reason: str, message: str = "", *, retry_after: int | None = None) -> Reply:
    """A metav1.Status as answer."""
    headers = {"Retry-After": str(retry_after)} if retry_after is not None else None
    return answer(_status(code, reason, message), code, headers)


def items(objects: Sequence[Mapping[str, Any]], rv: str, *, token: str = "") -> Reply:
    """A page of a list; its items name no kind, as those of a real one."""
    metadata = {"resourceVersion": rv} | ({"continue": token} if token else {})
    bare = [
        {key: value for key, value in each.items() if key not in ("kind", "apiVersion")} for each in objects
    ]
    return answer({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": bare})


def event(type_: str, wire: Mapping[str, Any]) -> bytes:
    """A line of a watch."""
    return json.dumps({"type": type_, "object": wire}, separators=(",", ":")).encode() + b"\n"


def bookmark(rv: str, kind: str = "Pod", *, ends_initial: bool = False) -> bytes:
    """A BOOKMARK line, which may end the initial events."""
    metadata: dict[str, Any] = {"resourceVersion": rv}
    if ends_initial:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return event("BOOKMARK", {"kind": kind, "apiVersion": "v1", "metadata": metadata})


def expired() -> bytes:
    """The ERROR line of a watch whose version is too old."""
    return event("ERROR", _status(410, "Expired", "too old resource version"))


def stream(*lines: bytes, then: str = "stay") -> Reply:
    """A watch that sends `lines`; `then` says what follows: "stay" (silence), "end", "cut" or "reset"."""

    async def reply(exchange: Exchange) -> None:
        await exchange.start(200, _JSON)
        for line in lines:
            await exchange.chunk(line)
        if then == "end":
            await exchange.end()
        elif then == "cut":
            exchange.cut()
        elif then == "reset":
            exchange.reset()
        else:
            await exchange.gone()

    return reply


async def drop(exchange: Exchange) -> None:
    """An RST instead of an answer."""
    exchange.reset()


async def silence(exchange: Exchange) -> None:
    """Takes the request and never answers."""
    await exchange.gone()


def _status(code: int, reason: str, message: str) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }

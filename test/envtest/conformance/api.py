# SPDX-License-Identifier: Apache-2.0
"""Sends a case's requests and writes the answers down in a form that two servers can agree on."""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.errors import ApiError
from dglop.runtime.client import PatchType

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dglop.runtime.client import Client

GROUP = "conformance.dglop.dev"
SECONDS = 20.0
_PREFIXES = {
    "configmaps": "/api/v1/namespaces/{ns}",
    "events": "/apis/events.k8s.io/v1/namespaces/{ns}",
    "pods": "/api/v1/namespaces/{ns}",
    "secrets": "/api/v1/namespaces/{ns}",
    "services": "/api/v1/namespaces/{ns}",
    "leases": "/apis/coordination.k8s.io/v1/namespaces/{ns}",
    "deployments": "/apis/apps/v1/namespaces/{ns}",
    "jobs": "/apis/batch/v1/namespaces/{ns}",
    "widgets": f"/apis/{GROUP}/v1/namespaces/{{ns}}",
    "fossils": f"/apis/{GROUP}/v1",
    "relics": f"/apis/{GROUP}/v1",
    "gauges": f"/apis/{GROUP}/v1/namespaces/{{ns}}",
    "gadgets": f"/apis/{GROUP}/v1",
    "namespaces": "/api/v1",
    "nodes": "/api/v1",
    "customresourcedefinitions": "/apis/apiextensions.k8s.io/v1",
}
_TIMES = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
_UID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_VERSIONS = re.compile(r"(resource version: |current: |\()(\d+)")
_GENERATED = re.compile(r"(gen-)[bcdfghjklmnpqrstvwxz2456789]{5}$")
_ADDRESS = re.compile(r"^10\.0\.0\.\d+$")


class Api:
    """One case's way to a server, and the answers so far."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self.answers: list[Any] = []
        self.status = 0
        """Of the last refusal."""
        self._warnings: list[str] = []
        self._labels: dict[str, dict[str, str]] = {"rv": {}, "uid": {}}

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        how: str = "application/json",
        accept: str = "application/json",
        quiet: bool = False,
        brief: bool = False,
        **query: str,
    ) -> Any:
        """
        The answer as it came; what is written down is its normal form.

        With *quiet* nothing is written down, with *brief* of a refusal only what programs go by.
        """
        try:
            raw = await self._client.raw(
                method,
                path.format(ns=self._namespace),
                query=query,
                body=None if body is None else body if isinstance(body, bytes) else msgspec.json.encode(body),
                content_type=how,
                accept=accept,
                retry=False,
            )
            answer = msgspec.json.decode(raw)
            said = answer
        except ApiError as error:
            answer = None
            said, self.status = _said(error), error.status
        if brief and answer is None:
            said = {"status": said["status"], "reason": said["reason"]}
        if quiet or brief:
            self._warnings.clear()
        if quiet:
            return answer
        self._write_down(f"{method} {path}", self.normal(said))
        return answer

    async def until(self, status: int, method: str, path: str, body: Any = None) -> None:
        """Until a dry run is answered with *status*: what a CRD says takes effect a moment later."""
        while True:
            answer = await self.send(method, path, body, quiet=True, dryRun="All")
            if (self.status if answer is None else 200) == status:
                return
            await asyncio.sleep(0.05)

    def path(self, plural: str, name: str = "", sub: str = "") -> str:
        parts = [_PREFIXES[plural], plural, name, sub]
        return "/".join(part for part in parts if part)

    async def post(self, plural: str, body: Any, **more: Any) -> Any:
        return await self.send("POST", self.path(plural), body, **more)

    async def get(self, plural: str, name: str = "", sub: str = "", **more: Any) -> Any:
        return await self.send("GET", self.path(plural, name, sub), **more)

    async def put(self, plural: str, name: str, body: Any, sub: str = "", **more: Any) -> Any:
        return await self.send("PUT", self.path(plural, name, sub), body, **more)

    async def delete(self, plural: str, name: str = "", body: Any = None, **more: Any) -> Any:
        return await self.send("DELETE", self.path(plural, name), body, **more)

    async def merge(self, plural: str, name: str, body: Any, sub: str = "", **more: Any) -> Any:
        return await self.send("PATCH", self.path(plural, name, sub), body, how=PatchType.MERGE, **more)

    async def json_patch(self, plural: str, name: str, body: Any, sub: str = "", **more: Any) -> Any:
        return await self.send("PATCH", self.path(plural, name, sub), body, how=PatchType.JSON, **more)

    async def strategic(self, plural: str, name: str, body: Any, sub: str = "", **more: Any) -> Any:
        return await self.send("PATCH", self.path(plural, name, sub), body, how=PatchType.STRATEGIC, **more)

    async def apply(self, plural: str, name: str, body: Any, manager: str, sub: str = "", **more: Any) -> Any:
        query = {"fieldManager": manager, **more}
        return await self.send("PATCH", self.path(plural, name, sub), body, how=PatchType.APPLY, **query)

    async def watch(
        self,
        plural: str,
        count: int,
        during: Callable[[], Awaitable[Any]] | None = None,
        *,
        quiet: bool = False,
        **query: str,
    ) -> list[Any]:
        """The first events of a watch; *during* runs once it is open."""
        seen: list[Any] = []
        query = {"watch": "true", **query}
        path = self.path(plural).format(ns=self._namespace)
        work: asyncio.Task[Any] | None = None
        try:
            async with (
                asyncio.timeout(SECONDS),
                aclosing(self._client.batches(path, query=query, read_idle=SECONDS)) as batches,
            ):
                if during is not None:
                    work = asyncio.ensure_future(during())
                async for lines in batches:
                    seen += [msgspec.json.decode(line) for line in lines]
                    if len(seen) >= count:
                        break
            if work is not None:
                await work
            said: Any = [self.normal(event) for event in seen]
        except ApiError as error:
            said = _said(error)
        if not quiet:
            self._write_down(f"WATCH {self.path(plural)}", said)
        return seen

    def warn(self, text: str) -> None:
        """To be called with each warning that came with an answer."""
        self._warnings.append(text)

    def _write_down(self, what: str, said: Any) -> None:
        warnings, self._warnings = self._warnings, []
        self.answers.append([what, said, *([sorted(map(self._text, warnings))] if warnings else [])])

    def normal(self, value: Any, key: str = "") -> Any:
        """*value* without what two servers cannot have in common."""
        if isinstance(value, dict):
            if "uid" not in value and "resourceVersion" in value:
                value = {**value, "resourceVersion": ""}  # of a list: others' writes count in it too
            pairs = {self._text(name): self.normal(each, name) for name, each in sorted(value.items())}
            return {name: pairs[name] for name in sorted(pairs) if name != "remainingItemCount"}
        if isinstance(value, list):
            found = [self.normal(each, key) for each in value]
            # The real server orders owners by the second in which they wrote.
            return sorted(found, key=_owner) if key == "managedFields" else found
        if isinstance(value, str):
            return self._text(value, key)
        return value

    def _text(self, text: str, key: str = "") -> str:
        if key == "resourceVersion" and text not in {"", "0"}:
            return self._label("rv", text)
        if key == "continue" and text:
            return "a token"
        if _TIMES.match(text):
            return "a time"
        if _ADDRESS.match(text):
            return "an address"
        text = _GENERATED.sub(r"\1xxxxx", text.replace(self._namespace, "NS"))
        text = _UID.sub(lambda found: self._label("uid", found.group()), text)
        return _VERSIONS.sub(r"\1N", text)

    def _label(self, what: str, text: str) -> str:
        labels = self._labels[what]
        return labels.setdefault(text, f"{what}#{len(labels) + 1}")


def _said(error: ApiError) -> dict[str, Any]:
    """A refusal; where several things are wrong the real server tells of them in no certain order."""
    message, details = error.message, dict(error.details)
    causes = details.get("causes") or []
    if len(causes) > 1:
        message = message.partition("[")[0]
        details["causes"] = sorted(causes, key=lambda each: sorted(each.items()))
    return {"status": error.status, "reason": error.reason, "message": message, "details": details}


def _owner(entry: dict[str, str]) -> tuple[str, ...]:
    return tuple(entry.get(name, "") for name in ("operation", "manager", "subresource", "apiVersion"))

# SPDX-License-Identifier: Apache-2.0
"""The wire between one Manager and its API server: it takes down what is sent, and can be cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dglop.errors import ApiConnectionError, ApiError

if TYPE_CHECKING:
    from dglop.runtime.client import Call

__all__ = ("Wire",)


@dataclass(slots=True)
class Wire:
    """What one Manager sends; after `lasts` requests nothing goes through any more.

    With `answer_lost` the last of them still arrives, but nobody hears the answer. `sent` are the requests
    in short, `calls` in full. `refused` are the requests that were answered with an error, and its status.
    Watches do not go over it, nor are the lists counted by which a cache reads its state.
    """

    lasts: int | None = None
    answer_lost: bool = False
    sent: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    refused: list[tuple[str, int]] = field(default_factory=list)

    @property
    def is_cut(self) -> bool:
        return self.lasts is not None and len(self.sent) > self.lasts

    def count(self, method: str, ending: str) -> int:
        return sum(each.startswith(method) and each.endswith(ending) for each in self.sent)

    async def carry(self, call: Call, send: Any) -> bytes:
        if call.path == "/version" or "limit" in (call.query or {}):
            return bytes(await send(call))  # how a cache reads its state, as it does by watches
        self.sent.append(str(call))
        self.calls.append(call)
        if not self.is_cut:
            return await self._send(call, send)
        if self.answer_lost and self.lasts == len(self.sent) - 1:
            await self._send(call, send)
        raise ApiConnectionError("the process is dead", sent=False)

    async def _send(self, call: Call, send: Any) -> bytes:
        try:
            answer: bytes = await send(call)
        except ApiError as error:
            self.refused.append((str(call), error.status or 0))
            raise
        return answer

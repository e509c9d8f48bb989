# SPDX-License-Identifier: Apache-2.0
"""What a container said last: its termination message, as JSON of a supervisor's or as plain log lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

__all__ = ("LastWords", "read_last_words")

_TAIL: Final = 600


@dataclass(frozen=True, slots=True)
class LastWords:
    """
    A termination message, taken apart.

    Attributes
    ----------
        cause: `self`, `peer` or `stop` where a supervisor wrote it; "" for anybody else's words.
        text: the last lines, the end of them where they are long.
    """

    text: str = ""
    cause: str = ""
    process: str = ""
    reason: str = ""
    pod: str = ""
    exit_code: int | None = None
    signal: int | None = None

    @property
    def is_verdict(self) -> bool:
        """Whether a supervisor chose the exit code itself, rather than pass a process's on."""
        return self.cause in ("peer", "stop") or bool(self.cause and self.reason)


def read_last_words(message: str) -> LastWords:
    """Takes a termination message apart; never fails, since the message is the user's own to write."""
    stripped = message.strip()
    if stripped.startswith("{"):
        try:
            data = json.loads(stripped)
        except ValueError:
            data = None  # cut off, or only looks like JSON: then it is text
        if isinstance(data, dict) and isinstance(data.get("cause"), str):
            return _from_json(data)
    return LastWords(text=_tail(stripped))


def _from_json(data: dict[str, Any]) -> LastWords:
    lines = data.get("lines")
    text = "\n".join(map(str, lines)) if isinstance(lines, list) else str(lines or data.get("message") or "")
    return LastWords(
        text=_tail(text.strip()),
        cause=data["cause"],
        process=_text(data.get("process")),
        reason="OOMKilled" if data.get("oom") is True else _text(data.get("reason")),
        pod=_text(data.get("pod")),
        exit_code=_number(data.get("exitCode")),
        signal=_number(data.get("signal")),
    )


def _tail(text: str) -> str:
    return text if len(text) <= _TAIL else "…" + text[-(_TAIL - 1) :]


def _text(value: Any) -> str:
    return value[:128] if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None

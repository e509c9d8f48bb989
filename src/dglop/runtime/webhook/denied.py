# SPDX-License-Identifier: Apache-2.0
"""The way for a webhook to say no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dglop.errors import DglopError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("Cause", "DeniedError")


@dataclass(frozen=True, slots=True)
class Cause:
    """
    One thing that is wrong with an object.

    Attributes
    ----------
        field: its path, such as `spec.items[2].name`.
        reason: a machine-readable word, FieldValueInvalid and the like.
    """

    message: str
    field: str = ""
    reason: str = "FieldValueInvalid"

    def to_wire(self) -> dict[str, Any]:
        pairs = (("reason", self.reason), ("message", self.message), ("field", self.field))
        return {key: value for key, value in pairs if value}


class DeniedError(DglopError):
    """
    Raised by a webhook's function: the request is refused, and the client reads the message.

    With *causes* it is an Invalid (422), as the API server's own validation gives it, else a Forbidden (403);
    *code* (400 or more) and *reason* say otherwise.
    """

    def __init__(
        self, message: str = "", *causes: Cause, code: int | None = None, reason: str | None = None
    ) -> None:
        told = message or "; ".join(_sentence(cause) for cause in causes)
        super().__init__(told)
        self.message = told
        self.causes: Sequence[Cause] = causes
        self.code: int = code or (422 if causes else 403)
        self.reason: str = reason if reason is not None else ("Invalid" if causes else "Forbidden")


def _sentence(cause: Cause) -> str:
    return f"{cause.field}: {cause.message}" if cause.field else cause.message

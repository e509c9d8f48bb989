# SPDX-License-Identifier: Apache-2.0
"""What the in-memory API server answers when it refuses: Status objects as a real one writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dglop.testing.memory.resources import ResourceInfo

__all__ = (
    "Problem",
    "RefusalError",
    "already_exists",
    "bad_request",
    "conflict",
    "forbidden_option",
    "internal",
    "invalid",
    "not_found",
)

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class RefusalError(Exception):
    """A request is refused; `wire` is the Status object, or None where a real server sends plain text."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        is_plain: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details: dict[str, Any] = dict(details or {})
        self.metadata: dict[str, str] = dict(metadata or {})
        self.is_plain = is_plain
        self.retry_after = retry_after
        self.warnings: list[str] = []

    def wire(self) -> dict[str, Any]:
        """The Status object."""
        status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
        status["metadata"] = self.metadata
        status |= {"message": self.message, "reason": self.reason, "code": self.code}
        return status | ({"details": self.details} if self.details else {})

    def body(self) -> bytes:
        return f"{self.message}\n".encode() if self.is_plain else msgspec.json.encode(self.wire())


@dataclass(frozen=True, slots=True)
class Problem:
    """One field that is wrong: a field.Error of the real server."""

    reason: str
    field: str
    text: str

    @classmethod
    def required(cls, field: str, why: str = "") -> Problem:
        return cls("FieldValueRequired", field, f"Required value: {why}" if why else "Required value")

    @classmethod
    def invalid(cls, field: str, value: Any, why: str) -> Problem:
        return cls("FieldValueInvalid", field, f"Invalid value: {shown(value)}: {why}")

    @classmethod
    def wrong_type(cls, field: str, found: str, why: str) -> Problem:
        return cls("FieldValueTypeInvalid", field, f"Invalid value: {shown(found)}: {why}")

    @classmethod
    def unsupported(cls, field: str, value: Any, supported: Sequence[Any]) -> Problem:
        listed = ", ".join(shown(each) for each in supported)
        return cls(
            "FieldValueNotSupported", field, f"Unsupported value: {shown(value)}: supported values: {listed}"
        )

    @classmethod
    def forbidden(cls, field: str, why: str) -> Problem:
        return cls("FieldValueForbidden", field, f"Forbidden: {why}")

    @classmethod
    def duplicate(cls, field: str, value: Any) -> Problem:
        return cls("FieldValueDuplicate", field, f"Duplicate value: {shown(value)}")

    @classmethod
    def too_long(cls, field: str, most: int) -> Problem:
        return cls("FieldValueTooLong", field, f"Too long: may not be more than {most} bytes")

    @classmethod
    def too_many(cls, field: str, found: int, most: int) -> Problem:
        return cls("FieldValueTooMany", field, f"Too many: {found}: must have at most {most} items")

    def __str__(self) -> str:
        return f"{self.field}: {self.text}"


def shown(value: Any) -> str:
    """A value in a message: JSON, as Go's %q and %v come out for what JSON can say."""
    return msgspec.json.encode(value).decode()


def _where(info: ResourceInfo, name: str) -> dict[str, Any]:
    where = {"name": name, "group": info.group, "kind": info.plural}
    return {key: value for key, value in where.items() if value}


def not_found(info: ResourceInfo, name: str) -> RefusalError:
    return RefusalError(404, "NotFound", f'{info.group_resource} "{name}" not found', _where(info, name))


def already_exists(info: ResourceInfo, name: str) -> RefusalError:
    message = f'{info.group_resource} "{name}" already exists'
    return RefusalError(409, "AlreadyExists", message, _where(info, name))


def conflict(info: ResourceInfo, name: str, why: str = MODIFIED, *, as_kind: bool = False) -> RefusalError:
    what = info.kind if as_kind else info.group_resource
    details = {**_where(info, name), "kind": info.kind if as_kind else info.plural}
    return RefusalError(409, "Conflict", f'Operation cannot be fulfilled on {what} "{name}": {why}', details)


def invalid(
    info: ResourceInfo,
    name: str,
    problems: Sequence[Problem],
    *,
    kind: str = "",
    warnings: Sequence[str] = (),
) -> RefusalError:
    """A 422 with all problems; *kind* where the object says another one than its resource's."""
    error = _invalid(kind or info.kind, info.group, name, problems)
    error.warnings = list(warnings)
    return error


def forbidden_option(kind: str, problem: Problem) -> RefusalError:
    """A 422 about the options of a request: *kind* is ListOptions, PatchOptions and so on."""
    return _invalid(kind, "meta.k8s.io", "", [problem])


def _invalid(kind: str, group: str, name: str, problems: Sequence[Problem]) -> RefusalError:
    causes = [{"reason": each.reason, "message": each.text, "field": each.field} for each in problems]
    different = list(dict.fromkeys(str(each) for each in problems))
    said = different[0] if len(different) == 1 else f"[{', '.join(different)}]"
    details = {"name": name, "group": group, "kind": kind, "causes": causes}
    what = f"{kind}.{group}" if group else kind
    return RefusalError(
        422,
        "Invalid",
        f'{what} "{name}" is invalid: {said}',
        {key: value for key, value in details.items() if value},
    )


def bad_request(message: str) -> RefusalError:
    return RefusalError(400, "BadRequest", message)


def internal(message: str) -> RefusalError:
    return RefusalError(500, "InternalServerError", message)

# SPDX-License-Identifier: Apache-2.0
"""AdmissionReview: from the API server's JSON to plain values, and back."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.errors import ApiError, CacheNotSyncedError, SchemaError
from dglop.runtime.client.convert import UNREADABLE
from dglop.runtime.outcome import BUGS
from dglop.runtime.webhook.denied import DeniedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = (
    "AdmissionRequest",
    "AdmissionResponse",
    "GroupVersionKind",
    "GroupVersionResource",
    "UserInfo",
    "denied",
    "errored",
    "read_review",
    "refusal_of",
    "write_review",
    "written",
)

VERSIONS = ("admission.k8s.io/v1", "admission.k8s.io/v1beta1")


class GroupVersionKind(msgspec.Struct, frozen=True):
    """A kind, by its group and version."""

    group: str = ""
    version: str = ""
    kind: str = ""


class GroupVersionResource(msgspec.Struct, frozen=True):
    """A resource, by its group and version."""

    group: str = ""
    version: str = ""
    resource: str = ""


class UserInfo(msgspec.Struct, frozen=True):
    """Who made the request."""

    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str]] | None = None


class AdmissionRequest(msgspec.Struct, frozen=True, rename="camel"):
    """
    What somebody asks the API server to do.

    `operation` is CREATE, UPDATE, DELETE or CONNECT. `object` is what would be stored, None for a DELETE;
    `old_object` what is stored, None for a CREATE. With `dry_run` nothing is stored, so nothing else may be
    changed either.
    """

    uid: str = ""
    kind: GroupVersionKind = GroupVersionKind()
    resource: GroupVersionResource = GroupVersionResource()
    sub_resource: str = ""
    request_kind: GroupVersionKind | None = None
    request_resource: GroupVersionResource | None = None
    request_sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    operation: str = ""
    user_info: UserInfo = UserInfo()
    object: dict[str, Any] | None = None
    old_object: dict[str, Any] | None = None
    dry_run: bool | None = None
    options: dict[str, Any] | None = None

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.operation} {self.kind.kind} {name}"


class _Review(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: AdmissionRequest | None = None


@dataclass(frozen=True, slots=True)
class AdmissionResponse:
    """
    The answer to one request.

    Attributes
    ----------
        patch: operations of RFC 6902 that make of the request's object what is to be stored.
        details: `causes` and the like, of a refusal.
        warnings: sentences that clients such as kubectl show.
        audit: keys and values for the API server's audit log.
    """

    allowed: bool = True
    message: str = ""
    code: int = 200
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    patch: Sequence[Mapping[str, Any]] = ()
    warnings: Sequence[str] = ()
    audit: Mapping[str, str] = field(default_factory=dict)


def denied(
    error: DeniedError, request: AdmissionRequest, *, warnings: Sequence[str] = ()
) -> AdmissionResponse:
    """The answer that refuses *request* for the reason that *error* gives."""
    details: dict[str, Any] = {}
    if error.causes:
        pairs = (("name", request.name), ("group", request.kind.group), ("kind", request.kind.kind))
        details = {key: value for key, value in pairs if value}
        details["causes"] = [cause.to_wire() for cause in error.causes]
    return AdmissionResponse(
        False, error.message, error.code, error.reason, details=details, warnings=warnings
    )


def refusal_of(
    error: Exception, request: AdmissionRequest, *, warnings: Sequence[str] = ()
) -> AdmissionResponse | None:
    """
    The answer that a function's error is; None if it says nothing about the request.

    A bug says nothing, and neither does a Manager that is not ready yet.

    These are controller-runtime's rules: a DeniedError, and an answer of the API server that the function
    met with, keep their code; any other error is a Forbidden (403) with its text.
    """
    if isinstance(error, (*BUGS, CacheNotSyncedError)):
        return None
    if isinstance(error, DeniedError):
        return denied(error, request, warnings=warnings)
    if isinstance(error, ApiError) and error.status >= 400:
        return AdmissionResponse(
            False, error.message, error.status, error.reason, details=error.details, warnings=warnings
        )
    return AdmissionResponse(False, str(error) or type(error).__name__, 403, "Forbidden", warnings=warnings)


def errored(message: str, *, code: int = 500) -> AdmissionResponse:
    """The answer of a webhook that could not do its work."""
    return AdmissionResponse(False, message, code, "InternalError" if code >= 500 else "BadRequest")


def read_review(body: bytes) -> tuple[str, AdmissionRequest]:
    """The apiVersion to answer in, and the request. Raises SchemaError for what is no AdmissionReview."""
    try:
        review = msgspec.json.decode(body, type=_Review)
    except UNREADABLE as problem:
        raise SchemaError(f"the body is no AdmissionReview: {problem}") from problem
    if review.request is None or not review.request.uid:
        raise SchemaError("the AdmissionReview has no request with a uid")
    version = review.api_version or VERSIONS[0]
    if version not in VERSIONS:
        raise SchemaError(f"an AdmissionReview of {version} is not understood; {VERSIONS[0]} is")
    return version, review.request


def write_review(version: str, uid: str, response: AdmissionResponse) -> bytes:
    """The AdmissionReview that carries *response*."""
    status: dict[str, Any] = {"code": response.code}
    pairs = (("message", response.message), ("reason", response.reason), ("details", dict(response.details)))
    status |= {key: value for key, value in pairs if value}
    wire: dict[str, Any] = {"uid": uid, "allowed": response.allowed, "status": status}
    if response.patch:
        wire["patch"] = base64.b64encode(msgspec.json.encode(list(response.patch))).decode()
        wire["patchType"] = "JSONPatch"
    if response.warnings:
        wire["warnings"] = list(response.warnings)
    if response.audit:
        wire["auditAnnotations"] = dict(response.audit)
    return written({"apiVersion": version, "kind": "AdmissionReview", "response": wire})


def written(review: dict[str, Any]) -> bytes:
    """The JSON of *review*; what is no Unicode in the program's own words becomes a question mark."""
    try:
        return msgspec.json.encode(review)
    except UnicodeEncodeError:
        return msgspec.json.encode(_legible(review))


def _legible(value: Any) -> Any:
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case dict():
            return {_legible(key): _legible(each) for key, each in value.items()}
        case list() | tuple():
            return [_legible(each) for each in value]
    return value

# SPDX-License-Identifier: Apache-2.0
"""Defaulting and validating: from typed functions to the answer of an admission webhook."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from dglop.errors import SchemaError
from dglop.runtime.client.convert import typed, wire_of
from dglop.runtime.usercode import gives_nothing
from dglop.runtime.webhook.call import AdmissionContext, call_function
from dglop.runtime.webhook.denied import DeniedError
from dglop.runtime.webhook.jsonpatch import carry_over, json_patch
from dglop.runtime.webhook.review import AdmissionResponse, refusal_of

if TYPE_CHECKING:
    from dglop.runtime.api import Kind
    from dglop.runtime.webhook.call import Surroundings
    from dglop.runtime.webhook.review import AdmissionRequest

__all__ = (
    "Admission",
    "Defaulter",
    "Step",
    "ValidatesCreate",
    "ValidatesDelete",
    "ValidatesUpdate",
    "Validator",
    "admit",
    "default_step",
    "validate_step",
    "validated_operations",
)

_REFUSE = "return None, and raise DeniedError to refuse"
_CHANGE = "return None, and change the object that it gets"

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

Defaulter: TypeAlias = Callable[[T, AdmissionContext[T]], Awaitable[None] | None]
"""
Changes an object before it is stored, in memory, at its creation and at each update.

It may be called again for the same request, so its changes must settle. Raising refuses the request. Of a
kind that is a Resource it gets the wire dict.
"""


@runtime_checkable
class ValidatesCreate(Protocol[T_contra]):
    """Has a say when an object is created."""

    def validate_create(self, obj: T_contra, ctx: AdmissionContext[Any], /) -> Awaitable[None] | None:
        """Raise DeniedError to refuse *obj*."""
        ...


@runtime_checkable
class ValidatesUpdate(Protocol[T_contra]):
    """Has a say when an object is changed."""

    def validate_update(
        self, old: T_contra, obj: T_contra, ctx: AdmissionContext[Any], /
    ) -> Awaitable[None] | None:
        """Raise DeniedError to refuse the change from *old* to *obj*."""
        ...


@runtime_checkable
class ValidatesDelete(Protocol[T_contra]):
    """Has a say when an object is deleted."""

    def validate_delete(self, obj: T_contra, ctx: AdmissionContext[Any], /) -> Awaitable[None] | None:
        """Raise DeniedError to keep *obj*."""
        ...


Validator: TypeAlias = (
    Callable[[T, AdmissionContext[T]], Awaitable[None] | None]
    | ValidatesCreate[T]
    | ValidatesUpdate[T]
    | ValidatesDelete[T]
)
"""
Refuses what must not be stored, by raising DeniedError; `ctx.warn` tells without refusing. Any other error
refuses too, as in controller-runtime: an ApiError in its own words, a bug as an internal error.

A function is asked at creation and update, with what was stored before as `ctx.old`. An object is asked by
the methods that it has: validate_create, validate_update, validate_delete.
"""


@dataclass(slots=True)
class Admission:
    """One request on its way through the steps of a webhook; *obj* is the wire dict as it stands."""

    request: AdmissionRequest
    surroundings: Surroundings
    obj: dict[str, Any] | None
    warnings: list[str] = field(default_factory=list)
    audits: dict[str, str] = field(default_factory=dict)

    async def call(
        self, function: Callable[..., Any], *objects: Any, old: Any = None, instead: str = _REFUSE
    ) -> None:
        """
        Call a user's function with *objects* and a context, whose warnings are kept in any case.

        Raises what it raises, and TypeError if it returns anything; *instead* says what it should do.
        """
        ctx: AdmissionContext[Any] = AdmissionContext(self.request, self.surroundings, old=old)
        try:
            answer = await call_function(function, *objects, ctx, threads=self.surroundings.threads)
            gives_nothing(function, answer, instead)
        finally:
            self.warnings += ctx.warnings
            self.audits |= ctx.audits


Step: TypeAlias = Callable[[Admission], Awaitable[None]]


async def admit(
    steps: Sequence[Step], request: AdmissionRequest, surroundings: Surroundings
) -> AdmissionResponse:
    """
    Send *request* through *steps*; each sees what those before it made of the object.

    The first one that raises ends it: `refusal_of` says which answer an error is. Raises what is no answer.
    """
    admission = Admission(request, surroundings, copy.deepcopy(request.object))
    try:
        for step in steps:
            await step(admission)
    except Exception as error:
        refusal = refusal_of(error, request, warnings=admission.warnings)
        if refusal is None:
            raise
        if not isinstance(error, DeniedError):
            surroundings.log.warning("Webhook refused", error=f"{type(error).__name__}: {error}")
        return refusal
    patch = json_patch(request.object, admission.obj) if request.object is not None else []
    return AdmissionResponse(patch=patch, warnings=admission.warnings, audit=admission.audits)


def default_step(kind: Kind, function: Callable[..., Any]) -> Step:
    """The step that has *function* change the object; what the type does not know is left alone."""

    async def step(admission: Admission) -> None:
        raw = admission.obj
        if raw is None:
            return  # a deletion stores nothing
        obj = _read(kind, raw)
        before = _wire(obj)
        old = _readable(kind, admission.request.old_object)
        await admission.call(function, obj, old=old, instead=_CHANGE)
        admission.obj = carry_over(raw, before, _wire(obj))

    return step


def validate_step(kind: Kind, validator: Any) -> Step:
    """The step that asks *validator*, by the method that fits the operation."""

    async def step(admission: Admission) -> None:
        request = admission.request
        if request.operation == "DELETE":
            await _validate_delete(kind, validator, admission)
        elif admission.obj is not None:
            obj = _read(kind, admission.obj)
            old = _readable(kind, request.old_object)
            if request.operation == "UPDATE" and old is not None and _has(validator, "validate_update"):
                await admission.call(validator.validate_update, old, obj, old=old)
            elif _has(validator, "validate_create") and (request.operation == "CREATE" or old is None):
                # What does not fit the kind cannot be compared with: its mending is judged like a creation.
                await admission.call(validator.validate_create, obj)
            elif not _is_object(validator):
                await admission.call(validator, obj, old=old)

    return step


def validated_operations(validator: Any) -> tuple[str, ...]:
    """The operations that *validator* wants to be asked about."""
    if not _is_object(validator):
        return ("CREATE", "UPDATE")
    return tuple(
        name for name in ("CREATE", "UPDATE", "DELETE") if _has(validator, f"validate_{name.lower()}")
    )


async def _validate_delete(kind: Kind, validator: Any, admission: Admission) -> None:
    wire = admission.request.old_object
    if wire is None or not _has(validator, "validate_delete"):
        return
    obj = _readable(kind, wire)
    if obj is None:
        # Nobody could get rid of it otherwise.
        admission.warnings.append(f"{admission.request.name} does not fit its kind; it was deleted unchecked")
        return
    await admission.call(validator.validate_delete, obj, old=obj)


def _read(kind: Kind, wire: dict[str, Any]) -> Any:
    try:
        return typed(kind, copy.deepcopy(wire))
    except SchemaError as error:
        raise DeniedError(str(error), code=422, reason="Invalid") from error


def _readable(kind: Kind, wire: dict[str, Any] | None) -> Any:
    try:
        return None if wire is None else typed(kind, copy.deepcopy(wire))
    except SchemaError:
        return None


def _wire(obj: Any) -> dict[str, Any]:
    """A snapshot of *obj* as JSON, which later changes of it do not touch."""
    return copy.deepcopy(wire_of(obj))


def _has(validator: Any, method: str) -> bool:
    return callable(getattr(validator, method, None))


def _is_object(validator: Any) -> bool:
    return any(_has(validator, f"validate_{name}") for name in ("create", "update", "delete"))

# SPDX-License-Identifier: Apache-2.0
"""Conversion between the versions of one kind, by way of one of them, the hub."""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from dglop.errors import ConfigError, DglopError, SchemaError
from dglop.runtime.api import resource_of
from dglop.runtime.client.convert import UNREADABLE, typed, wire_of
from dglop.runtime.usercode import call_here, name_of
from dglop.runtime.webhook.review import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.api import Kind, Resource

__all__ = ("Converter", "Spoke", "convert_review", "read_conversion", "write_conversion")

HubT = TypeVar("HubT")
SpokeT = TypeVar("SpokeT")
VERSION = "apiextensions.k8s.io/v1"
PATH = "/convert"


@dataclass(frozen=True)
class Spoke(Generic[SpokeT, HubT]):
    """
    One version beside the hub, and the way there and back.

    Both functions are plain ones without side effects: they run in a thread, and are called for reads, too.
    They need not care for metadata: the object's own is kept. Labels and annotations that the result has
    are added, and those taken out of the given object's are removed, which is the place to keep what the
    other version cannot say.
    """

    kind: type[SpokeT] | Resource
    to_hub: Callable[[SpokeT], HubT]
    from_hub: Callable[[HubT], SpokeT]


class Converter:
    """
    The versions of one kind.

    Raises ConfigError if they are not versions of one kind, or one is named twice.
    """

    def __init__(self, hub: Kind, *spokes: Spoke[Any, Any]) -> None:
        self.hub = hub
        self.spokes = spokes
        self.resource: Resource = resource_of(hub)
        self._kinds: dict[str, Kind] = {self.resource.api_version: hub}
        self._spokes: dict[str, Spoke[Any, Any]] = {}
        for spoke in spokes:
            other = resource_of(spoke.kind)
            if (other.group, other.kind) != (self.resource.group, self.resource.kind):
                raise ConfigError(
                    f"{other.api_version} {other.kind} is no version of {self.resource.group_resource}"
                )
            if other.api_version in self._kinds:
                raise ConfigError(
                    f"{other.api_version} {other.kind} is named twice; each version is one class"
                )
            self._kinds[other.api_version] = spoke.kind
            self._spokes[other.api_version] = spoke

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All versions, the hub, which is the stored one, first."""
        return tuple(self._kinds.values())

    def convert(self, wire: dict[str, Any], api_version: str) -> dict[str, Any]:
        """
        The object in another version, with all of its metadata.

        Raises SchemaError for a version that is not known, or an object that does not fit its own.
        """
        start = wire.get("apiVersion", "")
        for version in (start, api_version):
            if version not in self._kinds:
                known = ", ".join(sorted(self._kinds))
                raise SchemaError(f"{self.resource.kind} has no version {version!r}; there are {known}")
        if start == api_version:
            return wire
        if start in self._spokes:
            wire = self._step(wire, self._spokes[start].to_hub, self.resource.api_version)
        if api_version in self._spokes:
            wire = self._step(wire, self._spokes[api_version].from_hub, api_version)
        return wire

    def _step(self, wire: dict[str, Any], function: Callable[[Any], Any], goal: str) -> dict[str, Any]:
        given = typed(self._kinds[wire["apiVersion"]], copy.deepcopy(wire))
        made = call_here(function, given)
        if not (isinstance(made, dict) or hasattr(made, "to_wire") or hasattr(made, "model_dump")):
            if inspect.iscoroutine(made):
                made.close()
            raise TypeError(
                f"{name_of(function)} returned a {type(made).__name__}; a conversion is a plain function "
                f"that returns the object in {goal}"
            )
        result = wire_of(made)
        if (result["apiVersion"], result["kind"]) != (goal, self.resource.kind):
            raise SchemaError(
                f"a conversion to {goal} {self.resource.kind} gave {result['apiVersion']} {result['kind']}"
            )
        metadata = dict(wire.get("metadata") or {})
        for name in ("labels", "annotations"):
            left = (wire_of(given).get("metadata") or {}).get(name) or {}
            words = {**left, **((result.get("metadata") or {}).get(name) or {})}
            metadata.pop(name, None)
            if words:
                metadata[name] = words
        return {**result, "metadata": metadata}


class _Request(msgspec.Struct, rename="camel"):
    uid: str = ""
    desired_api_version: str = msgspec.field(default="", name="desiredAPIVersion")
    objects: list[dict[str, Any]] | None = None


class _Review(msgspec.Struct, rename="camel"):
    api_version: str = VERSION
    request: _Request | None = None


def read_conversion(body: bytes) -> tuple[str, str, list[dict[str, Any]]]:
    """The request's uid, the wished version and the objects. Raises SchemaError for no ConversionReview."""
    try:
        review = msgspec.json.decode(body, type=_Review)
    except UNREADABLE as problem:
        raise SchemaError(f"the body is no ConversionReview: {problem}") from problem
    if review.api_version != VERSION:
        raise SchemaError(f"a ConversionReview of {review.api_version} is not understood; {VERSION} is")
    if review.request is None or not review.request.desired_api_version:
        raise SchemaError("the ConversionReview has no request with a desiredAPIVersion")
    return review.request.uid, review.request.desired_api_version, review.request.objects or []


def convert_review(
    conversions: dict[tuple[str, str], Converter], objects: list[dict[str, Any]], api_version: str
) -> list[dict[str, Any]]:
    """
    All *objects* in *api_version*, in their order; *conversions* by group and kind.

    Raises SchemaError that names the object which cannot be converted, and whatever a conversion raises.
    """
    return [_convert_one(conversions, wire, api_version) for wire in objects]


def _convert_one(
    conversions: dict[tuple[str, str], Converter], wire: dict[str, Any], api_version: str
) -> dict[str, Any]:
    group, kind = str(wire.get("apiVersion", "")).rpartition("/")[0], str(wire.get("kind", ""))
    conversion = conversions.get((group, kind))
    metadata = wire.get("metadata") or {}
    name = f"{kind} {metadata.get('namespace', '')}/{metadata.get('name', '')}"
    if conversion is None:
        raise SchemaError(f"{name}: {kind} of {group} has no conversion here")
    try:
        return conversion.convert(wire, api_version)
    except DglopError as error:
        raise SchemaError(f"{name} cannot be converted to {api_version}: {error}") from error


def write_conversion(uid: str, objects: list[dict[str, Any]], *, failure: str = "") -> bytes:
    """The ConversionReview that carries *objects*, or the sentence of a *failure* and no object."""
    result = {"status": "Failed", "message": failure} if failure else {"status": "Success"}
    response = {"uid": uid, "convertedObjects": [] if failure else objects, "result": result}
    return written({"apiVersion": VERSION, "kind": "ConversionReview", "response": response})

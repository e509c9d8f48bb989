# SPDX-License-Identifier: Apache-2.0
"""Object metadata and owner references."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from dglop.errors import SchemaError
from dglop.runtime.api.resource import resource_of
from dglop.runtime.api.times import Time

__all__ = ("ObjectMeta", "OwnerReference", "owner_reference")


class OwnerReference(BaseModel):
    """Who an object belongs to."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow"
    )

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(BaseModel):
    """metav1.ObjectMeta; fields that are not named here are kept as they came."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", validate_assignment=True
    )

    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: int | None = None
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    owner_references: list[OwnerReference] = Field(default_factory=list)
    finalizers: list[str] = Field(default_factory=list)

    @field_validator("labels", "annotations", "owner_references", "finalizers", mode="before")
    @classmethod
    def _null_is_empty(cls, value: Any, info: Any) -> Any:
        if value is not None:
            return value
        return {} if info.field_name in ("labels", "annotations") else []

    def to_wire(self) -> dict[str, Any]:
        """The metadata as the API server reads it: no nulls, nothing empty, no managedFields."""
        wire = self.model_dump(by_alias=True, exclude_none=True, mode="json")
        wire.pop("managedFields", None)
        return {key: value for key, value in wire.items() if value not in ({}, [])}


def owner_reference(obj: Any, *, controller: bool = True) -> dict[str, Any]:
    """The wire form of a reference to `obj`, which must have come from the API server.

    `obj` is a CustomResource, an official model or a wire dict.
    Raises SchemaError where `obj` has no name or uid.
    """
    resource = resource_of(obj)
    name, uid = _identity(obj)
    if not name or not uid:
        raise SchemaError(
            f"{resource.kind} {name or '(no name)'} has no uid, so nothing can belong to it; "
            "create or read it first"
        )
    reference: dict[str, Any] = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": name,
        "uid": uid,
    }
    if controller:
        reference |= {"controller": True, "blockOwnerDeletion": True}
    return reference


def _identity(obj: Any) -> tuple[str | None, str | None]:
    if isinstance(obj, dict):
        metadata = obj.get("metadata", {})
        return metadata.get("name"), metadata.get("uid")
    metadata = obj.metadata
    if metadata is None:
        return None, None
    return metadata.name, metadata.uid

# SPDX-License-Identifier: Apache-2.0
"""CustomResource: one's own kinds as typed Python classes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from dglop.errors import SchemaError
from dglop.runtime.api.definition import Column, Definition, Scale, Scope
from dglop.runtime.api.keywords import check_keywords
from dglop.runtime.api.markers import CEL
from dglop.runtime.api.meta import ObjectMeta
from dglop.runtime.api.modelclass import ModelClass
from dglop.runtime.api.problems import schema_error
from dglop.runtime.api.resource import Resource
from dglop.runtime.api.spec import FROM_WIRE, without_nulls
from dglop.runtime.api.wirevalues import wire_of_model

__all__ = ("CustomResource",)


_KEYWORDS: dict[str, Any] = {
    "group": "", "version": "", "kind": "", "plural": None, "short_names": (), "categories": (),
    "columns": None, "rules": (), "scope": "Namespaced", "singular": "", "scale": None, "selectable": (),
    "storage": False, "served": True, "deprecation": "",
}  # fmt: skip


_HEAD = ("name", "namespace", "labels", "annotations")
_TYPE = ("apiVersion", "kind")
_TAKEN = (*_HEAD, "metadata", "spec", "status")

SpecT = TypeVar("SpecT", bound=BaseModel)
StatusT = TypeVar("StatusT", bound=BaseModel)


class CustomResource(BaseModel, Generic[SpecT, StatusT], metaclass=ModelClass):
    """The base of a kind of one's own.

    `class Greeting(CustomResource[GreetingSpec, Status], group="example.dev", version="v1")` is a kind;
    its docstring is the CRD's description. `Greeting(name="a", namespace="b", spec=...)` makes one, with
    `labels` and `annotations` too; what it does not take is an error.
    Of several classes of one kind, each a version, `storage=True` marks the one that is stored,
    `served=False` one that is only stored, and `deprecation` is what who still uses one is told.
    `selectable` are the JSON paths that field selectors may use.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="ignore"
    )

    resource: ClassVar[Resource]
    definition: ClassVar[Definition]

    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: SpecT
    status: StatusT = Field(default_factory=dict, validate_default=True)

    def __init_subclass__(
        cls,
        *,
        group: str = "",
        version: str = "",
        kind: str = "",
        plural: str | None = None,
        short_names: Sequence[str] = (),
        categories: Sequence[str] = (),
        columns: Mapping[str, str | Column] | None = None,
        rules: Sequence[CEL] = (),
        scope: Scope = "Namespaced",
        singular: str = "",
        scale: Scale | None = None,
        selectable: Sequence[str] = (),
        storage: bool = False,
        served: bool = True,
        deprecation: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        given = {key: value for key, value in locals().items() if key in _KEYWORDS}
        if all(given[key] == default for key, default in _KEYWORDS.items()):
            return  # CustomResource[X, Y] itself, or a base in between
        name = kind or cls.__name__
        check_keywords(cls.__name__, {**given, "kind": name})
        cls.resource = Resource(group, version, name, plural or name.lower() + "s", scope == "Namespaced")
        cls.definition = Definition(
            short_names=tuple(short_names),
            categories=tuple(categories),
            columns={key: Column.of(value) for key, value in (columns or {}).items()},
            rules=tuple(rules),
            singular=singular,
            scale=scale,
            selectable=tuple(selectable),
            storage=storage,
            served=served,
            deprecation=deprecation,
        )

    @model_validator(mode="before")
    @classmethod
    def _conveniences(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, dict):
            return data
        if info.context == FROM_WIRE:
            return {"spec": {}, **without_nulls(data, info)}
        given = {key: data[key] for key in _HEAD if data.get(key) is not None}
        known = {*_HEAD, *_TYPE, *cls.model_fields, *map(to_camel, cls.model_fields)}
        unknown = sorted(map(str, data.keys() - known))
        if unknown:
            raise ValueError(f"{cls.__name__} takes no {', '.join(unknown)}; it takes {', '.join(_TAKEN)}")
        return {**data, "metadata": _named(data.get("metadata"), given)} if given else data

    @property
    def api_version(self) -> str:
        return self.resource.api_version

    @property
    def kind(self) -> str:
        return self.resource.kind

    @property
    def name(self) -> str:
        """The name, or "" before there is one."""
        return self.metadata.name or ""

    @property
    def namespace(self) -> str:
        """The namespace, or "" for a cluster-scoped or not yet created object."""
        return self.metadata.namespace or ""

    @property
    def uid(self) -> str:
        return self.metadata.uid or ""

    @property
    def generation(self) -> int:
        return self.metadata.generation or 0

    @property
    def resource_version(self) -> str:
        return self.metadata.resource_version or ""

    @property
    def labels(self) -> dict[str, str]:
        return self.metadata.labels

    @property
    def annotations(self) -> dict[str, str]:
        return self.metadata.annotations

    @property
    def deletion_timestamp(self) -> datetime | None:
        return self.metadata.deletion_timestamp

    @property
    def is_deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any] | bytes | str) -> Self:
        """The object that `wire` says; fields that the class does not have are left out.

        Raises SchemaError, which names the object and the path.
        """
        try:
            if isinstance(wire, bytes | str):
                return cls.model_validate_json(wire, context=FROM_WIRE)
            return cls.model_validate(dict(wire), context=FROM_WIRE)
        except ValidationError as problem:
            raise schema_error(cls.resource.kind, wire, problem) from problem

    def to_wire(self) -> dict[str, Any]:
        """The object as the API server reads it: camelCase, without nulls.

        Raises SchemaError for what JSON or Kubernetes cannot say, such as an infinite number.
        """
        if not hasattr(type(self), "resource"):
            raise SchemaError(f"{type(self).__name__} names no group and version, so it has no wire form")
        wire: dict[str, Any] = {"apiVersion": self.api_version, "kind": self.kind}
        wire["metadata"] = self.metadata.to_wire()
        where = f"{self.kind} {f'{self.namespace}/' if self.namespace else ''}{self.name}"
        wire["spec"] = wire_of_model(self.spec, f"{where}: spec")
        status = wire_of_model(self.status, f"{where}: status")
        wire["status"] = {key: value for key, value in status.items() if value not in ({}, [])}
        if not wire["status"]:
            del wire["status"]
        return wire


def _named(metadata: Any, given: dict[str, Any]) -> Any:
    if metadata is None:
        return given
    if isinstance(metadata, ObjectMeta):
        return metadata.model_copy(update=given)
    return {**metadata, **given}

# SPDX-License-Identifier: Apache-2.0
"""CustomResourceDefinition manifests from CustomResource classes."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from dglop.errors import SchemaError
from dglop.runtime.api.custom import CustomResource
from dglop.runtime.api.schema import structural_schema

if TYPE_CHECKING:
    from dglop.runtime.api.definition import Conversion

__all__ = ("crd_manifest",)

AnyResource = type[CustomResource[Any, Any]]


def crd_manifest(*versions: AnyResource, conversion: Conversion | None = None) -> dict[str, Any]:
    """The CRD of one kind from its classes, one a version.

    Stored is the version with `storage=True`, else the first. Without a `conversion` the server only
    changes the apiVersion when it gives one version as another, and drops what that one does not have.
    Raises SchemaError where the classes are not versions of one kind, or a schema cannot be said.
    """
    if not versions:
        raise SchemaError("a CRD needs at least one CustomResource class")
    for each in versions:
        if not hasattr(each, "resource"):
            raise SchemaError(f"{each.__name__} is no kind: give its class a group and a version")
    first = _stored(versions)
    resource = first.resource
    for each in versions:
        other = each.resource
        if replace(other, version="") != replace(resource, version=""):
            raise SchemaError(f"{other.api_version} {other.kind} is no version of {resource.group_resource}")
    if len({each.resource.version for each in versions}) != len(versions):
        raise SchemaError(f"{resource.group_resource}: two classes are of the same version")
    spec: dict[str, Any] = {
        "group": resource.group,
        "names": _names(first),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "versions": [_version(each, stored=each is first) for each in versions],
    }
    if conversion is not None:
        spec["conversion"] = conversion.to_wire()
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource.plural}.{resource.group}"},
        "spec": spec,
    }


def _names(cls: AnyResource) -> dict[str, Any]:
    resource, definition = cls.resource, cls.definition
    names: dict[str, Any] = {
        "kind": resource.kind,
        "listKind": f"{resource.kind}List",
        "plural": resource.plural,
        "singular": definition.singular or resource.kind.lower(),
    }
    if definition.short_names:
        names["shortNames"] = list(definition.short_names)
    if definition.categories:
        names["categories"] = list(definition.categories)
    return names


def _stored(versions: tuple[AnyResource, ...]) -> AnyResource:
    marked = [each for each in versions if each.definition.storage]
    if len(marked) > 1:
        names = ", ".join(each.resource.version for each in marked)
        raise SchemaError(f"{marked[0].resource.group_resource}: only one version is stored, not {names}")
    return marked[0] if marked else versions[0]


def _version(cls: AnyResource, *, stored: bool) -> dict[str, Any]:
    definition = cls.definition
    version: dict[str, Any] = {
        "name": cls.resource.version,
        "served": definition.served,
        "storage": stored,
        "schema": {"openAPIV3Schema": _root_schema(cls)},
        "subresources": {"status": {}},
    }
    if definition.deprecation:
        version |= {"deprecated": True, "deprecationWarning": definition.deprecation}
    if definition.scale:
        version["subresources"]["scale"] = definition.scale.to_wire()
    if definition.selectable:
        version["selectableFields"] = [{"jsonPath": path} for path in definition.selectable]
    columns = [column.to_wire(name) for name, column in definition.columns.items()]
    if columns:
        # Once a CRD names columns, kubectl no longer adds the age itself.
        if not any(each["jsonPath"] == ".metadata.creationTimestamp" for each in columns):
            columns.append({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"})
        version["additionalPrinterColumns"] = columns
    return version


def _root_schema(cls: AnyResource) -> dict[str, Any]:
    spec = structural_schema(_model_of(cls, "spec"))
    schema: dict[str, Any] = {
        "type": "object",
        "description": inspect.cleandoc(cls.__doc__ or f"{cls.resource.kind} of {cls.resource.group}"),
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": structural_schema(_model_of(cls, "status")),
        },
    }
    if spec.get("required"):
        schema["required"] = ["spec"]
    if cls.definition.rules:
        schema["x-kubernetes-validations"] = [rule.to_wire() for rule in cls.definition.rules]
    return schema


def _model_of(cls: AnyResource, field: str) -> type[BaseModel]:
    annotation = cls.model_fields[field].annotation
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        raise SchemaError(f"{cls.__name__}.{field} is no model; derive from CustomResource[ASpec, AStatus]")
    return annotation

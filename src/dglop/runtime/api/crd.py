# SPDX-License-Identifier: Apache-2.0
"""CustomResourceDefinition manifests from CustomResource classes."""

from __future__ import annotations

import inspect
from typing import Any

from pydantic import BaseModel

from dglop.errors import SchemaError
from dglop.runtime.api.custom import CustomResource
from dglop.runtime.api.schema import structural_schema

__all__ = ("crd_manifest",)

AnyResource = type[CustomResource[Any, Any]]


def crd_manifest(*versions: AnyResource) -> dict[str, Any]:
    """The CRD of one kind; all versions are served, and the first one is stored.

    Raises SchemaError where the classes are not versions of one kind, or a schema cannot be said.
    """
    if not versions:
        raise SchemaError("a CRD needs at least one CustomResource class")
    first = versions[0]
    resource, definition = first.resource, first.definition
    for each in versions[1:]:
        other = each.resource
        if (other.group, other.kind, other.plural) != (resource.group, resource.kind, resource.plural):
            raise SchemaError(f"{other.api_version} {other.kind} is no version of {resource.group_resource}")
    names: dict[str, Any] = {
        "kind": resource.kind,
        "listKind": f"{resource.kind}List",
        "plural": resource.plural,
        "singular": resource.kind.lower(),
    }
    if definition.short_names:
        names["shortNames"] = list(definition.short_names)
    if definition.categories:
        names["categories"] = list(definition.categories)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource.plural}.{resource.group}"},
        "spec": {
            "group": resource.group,
            "names": names,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(each, stored=each is first) for each in versions],
        },
    }


def _version(cls: AnyResource, *, stored: bool) -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": cls.resource.version,
        "served": True,
        "storage": stored,
        "schema": {"openAPIV3Schema": _root_schema(cls)},
        "subresources": {"status": {}},
    }
    columns = [column.to_wire(name) for name, column in cls.definition.columns.items()]
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

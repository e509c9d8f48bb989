# SPDX-License-Identifier: Apache-2.0
"""The HTTP call that each verb is; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.errors import SchemaError
from dglop.runtime.client.convert import applicable, encoded
from dglop.runtime.client.patchtype import PatchType
from dglop.runtime.client.transport import Call
from dglop.runtime.client.view import DEFAULT_MANAGER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dglop.runtime.api.resource import Resource
    from dglop.runtime.client.view import View

    PatchBody = Mapping[str, Any] | Sequence[Any]
    Selector = str | Mapping[str, str]
    """As kubectl's -l has it, or names and the values that they must have."""

__all__ = ("apply_call", "create_call", "delete_call", "get_call", "list_query", "patch_call")


def get_call(
    view: View, resource: Resource, name: str, namespace: str | None, subresource: str | None = None
) -> Call:
    path = resource.path(view.place(resource, namespace), name, subresource)
    return Call("GET", path, action="get")


def list_query(labels: Selector, fields: Selector) -> dict[str, str]:
    pairs = (("labelSelector", _selector(labels)), ("fieldSelector", _selector(fields)))
    return {key: value for key, value in pairs if value}


def _selector(selector: Selector) -> str:
    if isinstance(selector, str):
        return selector
    return ",".join(f"{key}={value}" for key, value in selector.items())


def create_call(
    view: View,
    resource: Resource,
    wire: Mapping[str, Any],
    *,
    is_typed: bool = False,
    dry_run: bool = False,
    manager: str | None = None,
) -> Call:
    """Raises SchemaError where the object has no name and no generateName."""
    metadata = wire.get("metadata") or {}
    if not metadata.get("name") and not metadata.get("generateName"):
        raise SchemaError(f"{resource.kind}: metadata.name is missing, and so is generateName")
    query = view.writes(manager=manager, is_typed=is_typed, dry_run=dry_run)
    path = resource.path(view.place(resource, metadata.get("namespace")))
    return Call("POST", path, query, encoded(wire), action="create")


def apply_call(
    view: View,
    resource: Resource,
    wire: Mapping[str, Any],
    *,
    is_typed: bool = False,
    manager: str | None = None,
    force: bool = True,
    subresource: str | None = None,
    version: str | None = None,
) -> Call:
    """Raises SchemaError where the object has no name."""
    whole = {**wire, "metadata": wire.get("metadata") or {}}
    body = applicable(whole, subresource=subresource, version=version)
    name = body["metadata"].get("name")
    if not name:
        raise SchemaError(f"{resource.kind}: apply needs metadata.name")
    path = resource.path(view.place(resource, body["metadata"].get("namespace")), name, subresource)
    query = {
        **view.writes(manager=manager or view.field_manager or DEFAULT_MANAGER, is_typed=is_typed),
        "force": str(force).lower(),
    }
    return Call("PATCH", path, query, encoded(body), PatchType.APPLY, action="apply")


def patch_call(
    view: View,
    resource: Resource,
    name: str,
    namespace: str | None,
    body: PatchBody,
    *,
    how: PatchType = PatchType.MERGE,
    subresource: str | None = None,
    manager: str | None = None,
) -> Call:
    """Raises SchemaError where the body is not of the shape that this kind of patch has."""
    if (how is PatchType.JSON) is not isinstance(body, list):
        raise SchemaError(f"a patch as {how} must be {'a list' if how is PatchType.JSON else 'an object'}")
    path = resource.path(view.place(resource, namespace), name, subresource)
    return Call("PATCH", path, view.writes(manager=manager), encoded(body), how, action="patch")


def delete_call(
    view: View,
    resource: Resource,
    name: str | None,
    namespace: str | None,
    *,
    uid: str | None = None,
    resource_version: str | None = None,
    propagation: str | None = None,
    grace_seconds: int | None = None,
    query: Mapping[str, str] | None = None,
) -> Call:
    """The deletion of one object, or, without a name, of all that `query` selects in one namespace."""
    options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if propagation:
        options["propagationPolicy"] = propagation
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    if view.dry_run:
        # With a body the server reads its options from there alone.
        options["dryRun"] = ["All"]
    conditions = {"uid": uid, "resourceVersion": resource_version}
    if wanted := {key: value for key, value in conditions.items() if value}:
        options["preconditions"] = wanted
    path = resource.path(view.place(resource, namespace), name)
    action = "delete" if name is not None else "deletecollection"
    return Call("DELETE", path, query, encoded(options), action=action)

# SPDX-License-Identifier: Apache-2.0
"""Owner references on any object, by the rules that the garbage collector goes by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dglop.errors import AlreadyOwnedError, SchemaError
from dglop.runtime.api.meta import ObjectMeta, OwnerReference, owner_reference
from dglop.runtime.api.resource import resource_of

__all__ = (
    "check_owner",
    "controller_of",
    "has_controller",
    "has_owner",
    "is_controlled_by",
    "owner_references",
    "remove_controller_reference",
    "remove_owner_reference",
    "set_controller_reference",
    "set_owner_reference",
    "with_owner",
)

Reference = dict[str, Any]


def owner_references(obj: Any) -> list[Reference]:
    """The owner references of a CustomResource, an official model or a wire dict, in wire form."""
    if isinstance(obj, Mapping):
        return [dict(each) for each in (obj.get("metadata") or {}).get("ownerReferences") or ()]
    if obj.metadata is None:
        return []
    listed = obj.metadata.owner_references or ()
    return [each.model_dump(by_alias=True, exclude_none=True) for each in listed]


def controller_of(obj: Any) -> Reference | None:
    """The reference to the one owner that controls `obj`, if one does."""
    return next((each for each in owner_references(obj) if each.get("controller")), None)


def has_controller(obj: Any) -> bool:
    """Whether any owner controls `obj`."""
    return controller_of(obj) is not None


def is_controlled_by(obj: Any, owner: Any) -> bool:
    """Whether `owner`, this very one and no other of its name, controls `obj`."""
    found = controller_of(obj)
    return found is not None and found.get("uid") == owner_reference(owner)["uid"]


def has_owner(obj: Any, owner: Any) -> bool:
    """Whether `obj` names `owner`, or an earlier one of its kind and name, among its owners."""
    wanted = owner_reference(owner)
    return any(_is_same(each, wanted) for each in owner_references(obj))


def set_owner_reference(
    owner: Any, obj: Any, *, controller: bool = False, block_deletion: bool | None = None
) -> None:
    """Makes `owner` an owner of `obj`, in the place of an earlier owner of its kind and name.

    With `controller` it becomes the one that controls it. `block_deletion` keeps the owner until `obj` is
    gone, where it is deleted in the foreground; by default a controller does.
    Raises AlreadyOwnedError where another one controls `obj`; SchemaError where `owner` has no uid, is in
    another namespace, or is in one while `obj` is in none.
    """
    check_owner(owner, obj)
    _put(obj, with_owner(owner_references(obj), owner, _shown(obj), controller, block_deletion))


def set_controller_reference(owner: Any, obj: Any, *, block_deletion: bool = True) -> None:
    """`set_owner_reference` as the one that controls `obj`."""
    set_owner_reference(owner, obj, controller=True, block_deletion=block_deletion)


def remove_owner_reference(owner: Any, obj: Any) -> bool:
    """Takes `owner` from the owners of `obj`; whether it was one."""
    wanted, held = owner_reference(owner), owner_references(obj)
    kept = [each for each in held if not _is_same(each, wanted)]
    if len(kept) != len(held):
        _put(obj, kept)
    return len(kept) != len(held)


def remove_controller_reference(owner: Any, obj: Any) -> bool:
    """Takes `owner` from the owners of `obj` if it controls it; whether it did."""
    found = controller_of(obj)
    if found is None or not _is_same(found, owner_reference(owner)):
        return False
    return remove_owner_reference(owner, obj)


def check_owner(owner: Any, obj: Any) -> None:
    """Raises SchemaError where the garbage collector would take `owner` for missing and delete `obj`."""
    if not resource_of(owner).namespaced:
        return
    home, place = _namespace(owner), _namespace(obj)
    if not resource_of(obj).namespaced:
        raise SchemaError(
            f"{_shown(obj)} is cluster-scoped, so {_shown(owner)} in a namespace cannot own it: "
            "the garbage collector would delete it"
        )
    if home and place and home != place:
        raise SchemaError(
            f"{_shown(obj)} is in namespace {place!r}, so {_shown(owner)} in {home!r} cannot own it: "
            "the garbage collector would delete it"
        )


def with_owner(
    references: list[Reference],
    owner: Any,
    shown: str,
    controller: bool = False,
    block_deletion: bool | None = None,
) -> list[Reference]:
    """`references` with one to `owner`; `shown` names the object in errors. Raises as the above."""
    new = owner_reference(owner, controller=controller)
    if block_deletion is not None:
        new["blockOwnerDeletion"] = block_deletion
    other = next((each for each in references if each.get("controller") and not _is_same(each, new)), None)
    if controller and other is not None:
        raise AlreadyOwnedError(
            f"{shown} is controlled by {other.get('kind')} {other.get('name')} already, "
            f"so {new['kind']} {new['name']} cannot control it too"
        )
    if any(_is_same(each, new) for each in references):
        return [new if _is_same(each, new) else each for each in references]
    return [*references, new]


def _is_same(one: Reference, other: Reference) -> bool:
    """Whether both name one object, of whatever version and life: the newer reference replaces the older."""

    def identity(reference: Reference) -> tuple[Any, ...]:
        group = str(reference.get("apiVersion", "")).rpartition("/")[0]
        return group, reference.get("kind"), reference.get("name")

    return identity(one) == identity(other)


def _put(obj: Any, references: list[Reference]) -> None:
    if isinstance(obj, dict):
        metadata = dict(obj.get("metadata") or {})
        obj["metadata"] = {**metadata, "ownerReferences": references}
        return
    if isinstance(obj.metadata, ObjectMeta):
        obj.metadata.owner_references = [OwnerReference.model_validate(each) for each in references]
        return
    if obj.metadata is None:
        raise SchemaError(f"{resource_of(obj).kind}: metadata is missing, so nothing can own it")
    # The model's own class knows how to make its parts; which client they are of need not be known here.
    metadata = obj.metadata.model_dump(by_alias=True, exclude_none=True)
    obj.metadata = type(obj.metadata).from_dict({**metadata, "ownerReferences": references})


def _namespace(obj: Any) -> str:
    if isinstance(obj, Mapping):
        return (obj.get("metadata") or {}).get("namespace") or ""
    return (obj.metadata.namespace if obj.metadata is not None else None) or ""


def _shown(obj: Any) -> str:
    metadata = obj.get("metadata") if isinstance(obj, Mapping) else obj.metadata
    if isinstance(metadata, Mapping):
        name = metadata.get("name") or metadata.get("generateName")
    else:
        name = getattr(metadata, "name", None) or getattr(metadata, "generate_name", None)
    return f"{resource_of(obj).kind} {name or '(no name)'}"

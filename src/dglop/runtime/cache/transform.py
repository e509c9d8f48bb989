# SPDX-License-Identifier: Apache-2.0
"""Making less of an object before it is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from dglop.runtime.cache.entry import Cached, DeepCached, read_object
from dglop.runtime.usercode import failed, name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("Transform", "transformed", "without")

Transform: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""
Gives the object to keep for one that came, as wire dicts; it may change the one that it gets.

It must leave name, namespace, uid and resourceVersion alone. It costs a full parse of each object, so a
selector, or metadata alone, is better where it is enough; managedFields are never kept anyway. One that
raises ends the cache, and the Manager with it: an object that is missing unnoticed would be worse.
"""


def without(*paths: str | Sequence[str]) -> Transform:
    """
    A transform that drops fields: "data", "spec.template", or a sequence of names where one has dots.

    Nothing is wrong with an object that has no such field.
    """
    steps = [path.split(".") if isinstance(path, str) else list(path) for path in paths]

    def transform(wire: dict[str, Any]) -> dict[str, Any]:
        for *way, last in steps:
            at: Any = wire
            for name in way:
                at = at.get(name) if isinstance(at, dict) else None
            if isinstance(at, dict):
                at.pop(last, None)
        return wire

    return transform


def transformed(obj: Cached, transform: Transform) -> Cached:
    """
    What *transform* makes of *obj*.

    Raises ValueError if that is another object, TypeError if it is none, and UserCodeError if it raises.
    """
    wire = obj.to_dict()
    try:
        found = transform(wire)
    except BaseException as error:
        raise failed(error, f"cannot keep {obj!r}", transform) from error
    if not isinstance(found, dict):
        word = type(found).__name__
        raise TypeError(f"{name_of(transform)} returned a {word}; a transform returns the dict to keep")
    new, _ = read_object(msgspec.json.encode(found), obj.resource)
    if (new.key, new.uid, new.resource_version) != (obj.key, obj.uid, obj.resource_version):
        raise ValueError(
            f"the transform of {obj.resource.group_resource} made {new!r} of {obj!r}; "
            "it must leave name, namespace, uid and resourceVersion alone"
        )
    return DeepCached(new.raw, new.meta, new.resource) if isinstance(obj, DeepCached) else new

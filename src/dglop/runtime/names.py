# SPDX-License-Identifier: Apache-2.0
"""Names that the API server would take, so that others are refused before anyone waits for them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

__all__ = ("NamespaceName", "Namespaces", "ObjectName", "is_object_name", "namespaces_of")

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def namespaces_of(text: str) -> tuple[str, ...]:
    """The names in a list with commas between them."""
    return tuple(name for each in text.split(",") if (name := each.strip()))


def _namespace(name: str) -> str:
    if name and not _LABEL.fullmatch(name):
        raise ValueError(f"{name!r} cannot be a namespace: it has a-z, 0-9 and -, and 63 of them at most")
    return name


def _namespaces(text: str) -> str:
    if text and not namespaces_of(text):
        # Taken for none, it would mean all of them.
        raise ValueError(f"{text!r} names no namespace; leave it empty to look after all of them")
    for name in namespaces_of(text):
        _namespace(name)
    return text


def is_object_name(name: str) -> bool:
    """Whether most kinds' objects, such as a Lease, can have this name."""
    return bool(_NAME.fullmatch(name))


def _object(name: str) -> str:
    if name and not is_object_name(name):
        raise ValueError(f"{name!r} cannot be an object's name: it has a-z, 0-9, - and dots between them")
    return name


NamespaceName = Annotated[str, AfterValidator(_namespace)]
"""A setting that is a namespace, or empty."""
Namespaces = Annotated[str, AfterValidator(_namespaces)]
"""A setting that is one namespace or several, or empty."""
ObjectName = Annotated[str, AfterValidator(_object)]
"""A setting that is the name of an object, or empty."""

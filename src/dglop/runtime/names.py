# SPDX-License-Identifier: Apache-2.0
"""Names that the API server would take, so that others are refused before anyone waits for them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

__all__ = (
    "DomainName",
    "ImageName",
    "NamespaceName",
    "Namespaces",
    "ObjectName",
    "image_problem",
    "is_object_name",
    "namespace_problem",
    "namespaces_of",
)

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

# The grammar of container images: host and port, path, tag, digest.
_PART = r"[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?"
_HOST = rf"({_PART}(\.{_PART})*|\[[0-9a-fA-F:]+\])(:\d+)?"
_STEP = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"({_HOST}/)?{_STEP}(/{_STEP})*(:\w[\w.-]{{0,127}})?(@[a-zA-Z][\w.+-]*:[0-9a-fA-F]{{32,}})?", re.ASCII
)


def namespaces_of(text: str) -> tuple[str, ...]:
    """The names in a list with commas between them."""
    return tuple(name for each in text.split(",") if (name := each.strip()))


def namespace_problem(name: str) -> str:
    """Why no namespace can have this name; "" where one can."""
    if _LABEL.fullmatch(name):
        return ""
    return f"{name!r} cannot be a namespace: it has a-z, 0-9 and - between them, and 1 to 63 of them"


def image_problem(image: str) -> str:
    """Why no node can pull an image of this name; "" where the name is one."""
    if _IMAGE.fullmatch(image):
        return ""
    return f"{image!r} cannot be an image: write it as registry.example/name:tag, the name in lower case"


def _namespace(name: str) -> str:
    if name and (problem := namespace_problem(name)):
        raise ValueError(problem)
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


def _image(image: str) -> str:
    if problem := image_problem(image):
        raise ValueError(problem)
    return image


def _domain(name: str) -> str:
    if not is_object_name(name):
        raise ValueError(f"{name!r} cannot be a domain: write it as cluster.local")
    return name


def _object(name: str) -> str:
    if name and not is_object_name(name):
        raise ValueError(f"{name!r} cannot be an object's name: it has a-z, 0-9, - and dots between them")
    return name


DomainName = Annotated[str, AfterValidator(_domain)]
"""A setting that is a domain of DNS."""
ImageName = Annotated[str, AfterValidator(_image)]
"""A setting that is the name of a container image."""
NamespaceName = Annotated[str, AfterValidator(_namespace)]
"""A setting that is a namespace, or empty."""
Namespaces = Annotated[str, AfterValidator(_namespaces)]
"""A setting that is one namespace or several, or empty."""
ObjectName = Annotated[str, AfterValidator(_object)]
"""A setting that is the name of an object, or empty."""

# SPDX-License-Identifier: Apache-2.0
"""What the real server checks of every object's metadata."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dglop.testing.memory.refusal import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.testing.memory.resources import ResourceInfo

__all__ = ("metadata_problems", "metadata_warnings", "update_problems")

_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_VALUE = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    f"'{_SUBDOMAIN}')"
)
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    f"'{LABEL}')"
)
_LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    f"validation is '{_LABEL_1035}')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    f"for validation is '{_VALUE}')"
)
QUALIFIED_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    f"'{QUALIFIED}')"
)
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_LABEL_NAMES = frozenset({"namespaces"})
_ANNOTATION_BYTES = 256 * 1024
_FREE_NAMES = frozenset({"roles", "rolebindings", "clusterroles", "clusterrolebindings"})


def metadata_problems(info: ResourceInfo, metadata: dict[str, Any]) -> Iterator[Problem]:
    """What is wrong with a new object's metadata."""
    name = metadata.get("name") or ""
    if not name:
        yield Problem.required("metadata.name", "name or generateName is required")
    else:
        yield from _name_problems(info, name)
    yield from _label_problems(metadata.get("labels") or {})
    yield from _annotation_problems(metadata.get("annotations") or {})
    for index, finalizer in enumerate(metadata.get("finalizers") or ()):
        if not info.is_custom and "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield Problem.invalid(f"metadata.finalizers[{index}]", finalizer, why)
    yield from _owner_problems(metadata)


def metadata_warnings(info: ResourceInfo, metadata: dict[str, Any]) -> list[str]:
    """What the server advises against."""
    if info.group == "admissionregistration.k8s.io":
        return ["the in-memory API server calls no webhooks and asks no policies: test them on a real one"]
    return [
        f'metadata.finalizers: "{each}": prefer a domain-qualified finalizer name to avoid accidental '
        "conflicts with other finalizer writers"
        for each in metadata.get("finalizers") or ()
        if info.is_custom and "/" not in each and each not in _STANDARD_FINALIZERS
    ]


def _name_problems(info: ResourceInfo, name: str) -> Iterator[Problem]:
    def wrong(why: str) -> Problem:
        return Problem.invalid("metadata.name", name, why)

    if info.plural in _FREE_NAMES:
        if "/" in name or "%" in name:
            yield wrong("may not contain '/'" if "/" in name else "may not contain '%'")
        return
    is_short = info.storage in _LABEL_NAMES or info.storage == "services"
    if len(name) > (63 if is_short else 253):
        yield Problem.too_long("metadata.name", 63 if is_short else 253)
    elif info.storage == "services":
        if "." in name:
            yield wrong("must not contain dots")
        elif not re.fullmatch(_LABEL_1035, name):
            yield wrong(_LABEL_1035_TEXT)
    elif info.storage in _LABEL_NAMES:
        if not re.fullmatch(LABEL, name):
            yield wrong(LABEL_TEXT)
    elif not re.fullmatch(_SUBDOMAIN, name):
        yield wrong(_SUBDOMAIN_TEXT)


def _label_problems(labels: dict[str, str]) -> Iterator[Problem]:
    for key in sorted(labels):
        if not re.fullmatch(QUALIFIED, key.rpartition("/")[2]):
            yield Problem.invalid("metadata.labels", key, QUALIFIED_TEXT)
        if not re.fullmatch(_VALUE, labels[key]):
            yield Problem.invalid("metadata.labels", labels[key], _VALUE_TEXT)
        elif len(labels[key]) > 63:
            yield Problem.invalid("metadata.labels", labels[key], "must be no more than 63 bytes")


def _annotation_problems(annotations: dict[str, str]) -> Iterator[Problem]:
    for key in annotations:
        if not re.fullmatch(QUALIFIED, key.rpartition("/")[2]):
            yield Problem.invalid("metadata.annotations", key, QUALIFIED_TEXT)
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > _ANNOTATION_BYTES:
        yield Problem.too_long("metadata.annotations", _ANNOTATION_BYTES)


def _owner_problems(metadata: dict[str, Any]) -> Iterator[Problem]:
    references = metadata.get("ownerReferences") or ()
    for index, reference in enumerate(references):
        for field in ("apiVersion", "kind", "name", "uid"):
            if not reference.get(field):
                path = f"metadata.ownerReferences[{index}].{field}"
                yield Problem.required(path, "must not be empty")
    controllers = [f"{each.get('kind')}/{each.get('name')}" for each in references if each.get("controller")]
    if len(controllers) > 1:
        shown = [
            {
                key: each[key]
                for key in ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
                if key in each
            }
            for each in references
        ]
        why = (
            'Only one reference can have Controller set to true. Found "true" in references for '
            f"{controllers[0]} and {controllers[1]}"
        )
        yield Problem.invalid("metadata.ownerReferences", shown, why)


def update_problems(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Problem]:
    """What of an object's metadata may not change."""
    before, after = old["metadata"], new["metadata"]
    for field in ("name", "namespace", "uid", "deletionTimestamp"):
        if (after.get(field) or None) != (before.get(field) or None):
            yield Problem.invalid(f"metadata.{field}", after.get(field), "field is immutable")
    if before.get("deletionTimestamp"):
        known = before.get("finalizers") or ()
        added = [each for each in after.get("finalizers") or () if each not in known]
        if added:
            listed = ", ".join(f'"{each}"' for each in added)
            why = (
                "no new finalizers can be added if the object is being deleted, found new finalizers "
                f"[]string{{{listed}}}"
            )
            yield Problem.forbidden("metadata.finalizers", why)
    yield from _label_problems(after.get("labels") or {})
    yield from _annotation_problems(after.get("annotations") or {})
    yield from _owner_problems(after)

# SPDX-License-Identifier: Apache-2.0
"""The JSON merge patch that leads from one state to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("is_merged", "is_touched", "merge_difference", "merged")


def merge_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """
    What to merge into *before* to get *after*: changed fields, and null for those that are gone.

    Lists are replaced as a whole, as RFC 7386 has it. Fields in neither stay as the server has them.
    """
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if isinstance(old, dict) and isinstance(value, dict):
            inner = merge_difference(old, value)
            if inner:
                patch[name] = inner
        elif name not in before or old != value or type(old) is not type(value):
            patch[name] = value
    return patch


def merged(state: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """What merging *patch* into *state* makes of it, as RFC 7386 has it; both stay as they are."""
    after = dict(state)
    for name, value in patch.items():
        old = after.get(name)
        if value is None:
            after.pop(name, None)
        elif isinstance(value, dict):
            after[name] = merged(old if isinstance(old, dict) else {}, value)
        else:
            after[name] = value
    return after


def is_touched(patch: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a field that the merge patch *patch* writes differs between *before* and *after*."""
    for name, value in patch.items():
        old, new = before.get(name), after.get(name)
        if isinstance(value, dict) and isinstance(old, dict) and isinstance(new, dict):
            if is_touched(value, old, new):
                return True
        elif old != new or (name in before) is not (name in after):
            return True
    return False


def is_merged(patch: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    """Whether *state* is already what merging *patch* would make of it."""
    for name, value in patch.items():
        found = state.get(name)
        if value is None:
            if name in state:
                return False
        elif isinstance(value, dict):
            if not isinstance(found, dict) or not is_merged(value, found):
                return False
        elif found != value:
            return False
    return True

# SPDX-License-Identifier: Apache-2.0
"""Fields of pod templates that no pod has, such as misspelt ones: the API server drops them and warns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("IgnoredFields", "ignored_field")

_UNKNOWN: Final = re.compile(r'unknown field "(.+)"')
_CONTAINER: Final = re.compile(r"spec\.(containers|initContainers)\[(\d+)\]")


def ignored_field(warning: str, pod: Mapping[str, Any]) -> str:
    """The field of *pod* that the server's *warning* is about; empty where it is about something else.

    A container is told by its name, since the operator adds some of its own before the template's.
    """
    unknown = _UNKNOWN.fullmatch(warning)
    if unknown is None:
        return ""

    def named(found: re.Match[str]) -> str:
        return f"spec.{found[1]}{{{pod['spec'][found[1]][int(found[2])].get('name')}}}"

    return _CONTAINER.sub(named, unknown[1], count=1)


class IgnoredFields:
    """What is ignored in one job's templates, by role, until it was told; each is told once a spec."""

    def __init__(self) -> None:
        self._spec = ""
        self._fields: dict[tuple[str, str], bool] = {}

    def begin(self, spec: str) -> None:
        """Forget all where the spec, given by its hash, is another."""
        if spec != self._spec:
            self._spec = spec
            self._fields.clear()

    def add(self, role: str, field: str) -> None:
        self._fields.setdefault((role, field), False)

    def untold(self) -> dict[str, list[str]]:
        """The fields, by role, that were not told yet."""
        found: dict[str, list[str]] = {}
        for (role, field), is_told in self._fields.items():
            if not is_told:
                found.setdefault(role, []).append(field)
        return found

    def told(self) -> None:
        """All that there are were told."""
        self._fields = dict.fromkeys(self._fields, True)

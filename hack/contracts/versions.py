# SPDX-License-Identifier: Apache-2.0
"""Which versions of the official client there are, and which of them concern us."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

__all__ = ("CLIENT", "chosen", "pinned", "released")

CLIENT = "kubernetes"
_ROOT = Path(__file__).resolve().parents[2]


def pinned() -> Requirement:
    """The range of pyproject.toml."""
    listed = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    return next(found for each in listed if (found := Requirement(each)).name == CLIENT)


def released(said: str) -> list[Version]:
    """The versions, oldest first, of what `pip index versions` says; no pre-releases."""
    for line in said.splitlines():
        head, _, listed = line.partition(":")
        if head.strip() == "Available versions":
            found = {Version(each) for each in listed.split(",")}
            return sorted(each for each in found if not each.is_prerelease)
    raise ValueError(f"pip listed no versions of {CLIENT}: {said.strip() or '(it said nothing)'}")


def chosen(there: list[Version], wanted: Requirement) -> tuple[list[Version], Version | None]:
    """The versions in the range, and the first one beyond it, if there is one."""
    inside = [each for each in there if each in wanted.specifier]
    beyond = [each for each in there if inside and each > inside[-1]]
    return inside, beyond[0] if beyond else None

# SPDX-License-Identifier: Apache-2.0
"""The job kinds that the program knows; each one's code is imported only where it is enabled."""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dglop.runtime.api import CustomResource, Rule

__all__ = ("KINDS", "known_kinds", "resource_class", "rules_of")

KINDS = ("DGLJob", "PyTorchJob", "MPIJob")
DEFAULT = "DGLJob"


def known_kinds(words: Iterable[str]) -> tuple[str, ...]:
    """The kinds that these words name, upper and lower case alike, several in a word by commas.

    Raises ConfigError for a word that names none, or where there is none at all.
    """
    by_word = {kind.lower(): kind for kind in KINDS}
    named = [each.strip() for word in words for each in word.split(",") if each.strip()]
    unknown = [each for each in named if each.lower() not in by_word]
    if unknown or not named:
        what = f"there is no kind {', '.join(unknown)}" if unknown else "no kind is named"
        raise ConfigError(f"{what}; name one or more of {', '.join(KINDS)}")
    return tuple(dict.fromkeys(by_word[each.lower()] for each in named))


def resource_class(kind: str) -> type[CustomResource[Any, Any]]:
    """The class of a kind of `KINDS`."""
    if kind == "PyTorchJob":
        from dglop.pytorchjob.api import PyTorchJob

        return PyTorchJob
    if kind == "MPIJob":
        from dglop.mpijob.api import MPIJob

        return MPIJob
    from dglop.dgljob.api import DGLJob

    return DGLJob


def rules_of(kind: str) -> Sequence[Rule]:
    """What the operator may do where jobs of a kind are."""
    if kind == "PyTorchJob":
        from dglop.pytorchjob.operator import RULES

        return RULES
    if kind == "MPIJob":
        from dglop.mpijob.operator import RULES as MPI_RULES

        return MPI_RULES
    from dglop.dgljob.rbac import MANAGER_RULES

    return MANAGER_RULES

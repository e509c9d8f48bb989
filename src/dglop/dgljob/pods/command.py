# SPDX-License-Identifier: Apache-2.0
"""dglrun before the user's own command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dgljob.pods.names import ZIPAPP
from dglop.dgljob.pods.volumes import mount_zipapp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.api import RawContainer

__all__ = ("run_builtin", "wrap_command")


def wrap_command(main: RawContainer, python: str, verb: str, told: Iterable[str]) -> None:
    """`python3 dglrun.pyz <verb> <told> --` before the command; the arguments stay where they are.

    So $(NAME) is expanded by the kubelet in both, as the user expects.
    """
    main.command = [python, ZIPAPP, verb, *told, "--", *main.command]
    mount_zipapp(main)


def run_builtin(main: RawContainer, python: str, verb: str, told: Iterable[str]) -> None:
    """`python3 dglrun.pyz <verb> <told>` in the place of whatever the container ran."""
    main.command = [python, ZIPAPP, verb, *told]
    main.data.pop("args", None)
    mount_zipapp(main)

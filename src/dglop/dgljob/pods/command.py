# SPDX-License-Identifier: Apache-2.0
"""dglrun before the user's own command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dgljob.pods.names import ZIPAPP
from dglop.dgljob.pods.volumes import mount_zipapp

if TYPE_CHECKING:
    from dglop.runtime.api import RawContainer

__all__ = ("run_builtin", "wrap_command")


def wrap_command(main: RawContainer, python: str, verb: str) -> None:
    """`python3 dglrun.pyz <verb> --` before the command; the arguments stay where they are.

    So $(NAME) is expanded by the kubelet in both, as the user expects.
    """
    main.command = [python, ZIPAPP, verb, "--", *main.command]
    mount_zipapp(main)


def run_builtin(main: RawContainer, python: str, verb: str) -> None:
    """`python3 dglrun.pyz <verb>` in the place of whatever the container ran."""
    main.command = [python, ZIPAPP, verb]
    main.data.pop("args", None)
    mount_zipapp(main)

# SPDX-License-Identifier: Apache-2.0
"""How settings are told to people: the help of flags, and variables that were meant for one but are not."""

from __future__ import annotations

import re
from argparse import RawDescriptionHelpFormatter
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Action
    from collections.abc import Iterable, Mapping

__all__ = ("FlagHelp", "misspelt")

_NEAR = 0.65
"""How alike two names are before one is taken for the other; NAME and NAMESPACE are less."""
_NOTHING = " (default: )"
_LIST = re.compile(r"\(default: \[.*\]\)")
_PLAIN = str.maketrans("", "", "[]'")
_SERVICE_LINK = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?")


class FlagHelp(RawDescriptionHelpFormatter):
    """Help that says nothing of an empty default, since the sentence does, and a list as people write it."""

    def _get_help_string(self, action: Action) -> str | None:
        if not action.help:
            return None
        return _LIST.sub(lambda found: found[0].translate(_PLAIN), action.help.replace(_NOTHING, ""))


def misspelt(environ: Mapping[str, str], prefix: str, fields: Iterable[str]) -> dict[str, str]:
    """
    Variables that begin with *prefix*, are no setting of *fields*, and look like one: each with that one.

    Others with the prefix may be another program's. Those that Kubernetes sets in pods for each Service of
    the namespace are nobody's mistake.
    """
    known = [each.upper() for each in fields]
    found: dict[str, str] = {}
    if not prefix:
        return found
    for variable, value in sorted(environ.items()):
        name = variable.upper().removeprefix(prefix)
        if not variable.upper().startswith(prefix) or name in known or _is_of_a_service(name, value):
            continue
        if near := get_close_matches(name, known, 1, _NEAR):
            found[variable] = f"{prefix}{near[0]}"
    return found


def _is_of_a_service(name: str, value: str) -> bool:
    link = _SERVICE_LINK.search(name)
    if link is None or link.end() != len(name):
        return False
    return "SERVICE" in link.group() or link.group() != "_PORT" or "://" in value

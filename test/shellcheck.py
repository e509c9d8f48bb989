# SPDX-License-Identifier: Apache-2.0
"""Whether what a command line of the documentation names is there."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING

from dglop.cli.main import USAGE
from dglop.errors import ConfigError
from dglop.runtime.settings import Settings
from test.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ("mistakes",)

_ENDS = {"&&", "||", ";", "|"}
_FREE = {"cd", "curl", "docker", "export", "git", "kustomize", "pip", "uv", ".venv/bin/pip"}
"""Programs whose arguments say nothing about this repository."""


_MADE = ("website.yaml",)
"""Files that commands of the documentation make before others read them."""


_VALUED = {"-n", "--namespace", "-f", "-k", "-l", "-o", "-p", "-c", "--for", "--type", "--timeout"}
"""Flags of kubectl that take the next word."""
_CHANGES = ("annotate", "label")
_NAMED = 2
_KUBECTL = {
    **dict.fromkeys(("apply", "diff"), 0),
    **dict.fromkeys(("annotate", "label", "get", "describe", "explain", "logs", "exec", "config"), 1),
    **dict.fromkeys(("create", "edit", "wait", "port-forward", "rollout"), 1),
    **dict.fromkeys(("delete", "patch", "scale", "cp"), _NAMED),
}
"""How many words must say what a command is about; `kind/name` are two, and 0 is a file."""


def mistakes(line: str) -> list[str]:
    """What a command line names that does not exist, in sentences."""
    return [f"{line.strip()}: {each}" for words in _split(line) for each in _mistakes(words)]


def _split(line: str) -> Iterator[list[str]]:
    """The commands of one line, each without the variables that it sets."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word in _ENDS:
            if words:
                yield words
            words = []
        elif words or not re.match(r"[A-Z_]+=", word):
            words.append(word)


def _mistakes(words: list[str]) -> list[str]:
    program, arguments = words[0], words[1:]
    if program in _FREE:
        return []
    check = _CHECKS.get(program)
    if check is None:
        return [f"no test knows what {program} is"]
    return check(arguments)


def _make(arguments: list[str]) -> list[str]:
    makefile = (ROOT / "Makefile").read_text()
    named = [each for each in arguments if "=" not in each and not each.startswith("-")]
    return [f"there is no target {each}" for each in named if f"\n{each}:" not in makefile]


def _python(arguments: list[str]) -> list[str]:
    if not arguments:
        return []
    if arguments[0] == "-m":
        return _module(arguments[1:])
    program = _place(arguments[0])
    if arguments[0].startswith("-"):
        return [f"no test knows what {arguments[0]} does"]
    if not program.is_file():
        return [f"there is no file {arguments[0]}"]
    # The examples are Managers, so that their flags are known.
    return _flags(arguments[1:]) if "examples" in program.parts else []


def _place(name: str) -> Path:
    """The file of that name; the quick start is read in a folder of its own."""
    near = ROOT / "examples" / "quickstart" / name
    return near if near.exists() else ROOT / name


def _module(arguments: list[str]) -> list[str]:
    if arguments[0] == "dglop":
        return _dglop(arguments[1:])
    return [] if find_spec(arguments[0]) else [f"there is no module {arguments[0]}"]


def _flags(arguments: list[str]) -> list[str]:
    try:
        Settings().with_flags(arguments)
    except (ConfigError, SystemExit) as problem:
        return [str(problem)]
    return []


def _dglop(arguments: list[str]) -> list[str]:
    known = re.findall(r"^  (\w+)  ", USAGE, flags=re.MULTILINE)
    return [f"dglop has no command {each}" for each in arguments[:1] if each not in known]


def _kubectl(arguments: list[str]) -> list[str]:
    return [*_kubectl_words(arguments), *_kubectl_places(arguments)]


def _kubectl_words(arguments: list[str]) -> list[str]:
    """What kubectl itself would say without asking a server: too few words for the command."""
    words, has_place = _positional(arguments)
    verb = words[0] if words else ""
    if verb not in _KUBECTL:
        return [f"no test knows what kubectl {verb} does"]
    needed, kind = words[1:], _KUBECTL[verb]
    if verb in _CHANGES:
        changes = [each for each in needed if "=" in each or each.endswith("-")]
        needed = [each for each in needed if each not in changes]
        if not changes:
            return [f"kubectl {verb} is told no change"]
    if kind == 0:
        return [] if has_place else [f"kubectl {verb} needs -f or -k"]
    enough = has_place or len(needed) >= kind or (kind == _NAMED and any("/" in each for each in needed))
    return [] if enough else [f"kubectl {verb} is not told of what: a kind, and where one is meant its name"]


def _positional(arguments: list[str]) -> tuple[list[str], bool]:
    """The words that are no flags nor their values, and whether a file or folder says what is meant."""
    words: list[str] = []
    rest = iter(arguments)
    for each in rest:
        if each == "--":
            break
        if each in _VALUED:
            next(rest, None)
        elif not each.startswith("-") or each == "-":
            words.append(each)
    return words, any(each in ("-f", "-k") for each in arguments)


def _kubectl_places(arguments: list[str]) -> list[str]:
    places = [after for flag, after in pairwise(arguments) if flag in ("-f", "-k")]
    local = [each for each in places if each != "-" and "://" not in each]
    return [f"there is no {each}" for each in local if not _place(each).exists() and each not in _MADE]


def _eval(arguments: list[str]) -> list[str]:
    printed = [each.removeprefix("$(").removesuffix(")") for each in arguments]
    return [problem for line in printed for words in _split(line) for problem in _mistakes(words)]


_CHECKS: dict[str, Callable[[list[str]], list[str]]] = {
    "make": _make,
    "python": _python,
    "python3": _python,
    ".venv/bin/python": _python,
    "kubectl": _kubectl,
    "dglop": _dglop,
    ".venv/bin/dglop": _dglop,
    "eval": _eval,
}

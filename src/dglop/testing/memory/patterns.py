# SPDX-License-Identifier: Apache-2.0
r"""Patterns as Go reads them: `\d` is ASCII, `$` is the very end, `\p{L}` a class of letters."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

__all__ = ("UnknownPatternError", "go_pattern")

_PARTS = re.compile(
    r"\\p\{(?P<class>\^?\w+)\}|\\p(?P<short>\w)|\\P\{(?P<not_class>\w+)\}|\\P(?P<not_short>\w)"
    r"|(?P<end>\\z)|\[:(?P<posix>\w+):\]|(?P<other>\\.)|(?P<dollar>\$)|(?P<open>\[\^?\]?)|(?P<close>\])"
    r"|(?P<name>\(\?<(?=[A-Za-z_]))",
    re.DOTALL,
)
_POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": r"\t ", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "space": r"\t-\r ", "upper": "A-Z",
    "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


class UnknownPatternError(ValueError):
    """A pattern cannot be evaluated in memory; the message says why and what to do."""


@cache
def go_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern as the real server would evaluate it. Raises UnknownPatternError."""
    found, at, in_class = "", 0, False
    multiline = re.match(r"\(\?[a-zA-Z]*m", pattern) is not None
    try:
        for part in _PARTS.finditer(pattern):
            found += pattern[at : part.start()]
            at = part.end()
            if part["open"] and not in_class:
                in_class = True
                found += part["open"].replace("]", r"\]")
                continue
            if part["close"]:
                in_class = False
            found += _translated(part, in_class=in_class, multiline=multiline)
        return re.compile(found + pattern[at:], re.ASCII)
    except (re.error, KeyError) as problem:
        raise UnknownPatternError(
            f"it cannot be evaluated in memory ({problem}): ask a real API server, as envtest starts"
        ) from problem


def _translated(part: re.Match[str], *, in_class: bool, multiline: bool) -> str:
    for name in ("class", "short", "not_class", "not_short"):
        if part[name]:
            is_not = name.startswith("not_") != part[name].startswith("^")
            ranges = _ranges(part[name].lstrip("^"), is_not=is_not)
            return ranges if in_class else f"[{ranges}]"
    if part["posix"]:
        return _POSIX[part["posix"]]
    if part["end"] or (part["dollar"] and not in_class and not multiline):
        return r"\Z"
    if part["name"]:
        return "(?<" if in_class else "(?P<"
    return r"\[" if part["open"] == "[" else part.group()


@cache
def _ranges(category: str, *, is_not: bool) -> str:
    """The characters of a Unicode category, such as L or Lu, as ranges of a class."""
    found: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)).startswith(category) == is_not:
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    if not found or len(found[0]) != 2 or category[0] not in "CLMNPSZ" or len(category) > 2:
        raise KeyError(f"no class {category}")
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in found)

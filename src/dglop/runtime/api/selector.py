# SPDX-License-Identifier: Apache-2.0
"""Label selectors: read once, then asked of each object's labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

__all__ = ("LabelTest", "label_test", "selector_text")

LabelTest: TypeAlias = Callable[[Mapping[str, str]], bool]
"""Whether labels are meant."""

_NAME = r"[A-Za-z0-9./_-]+"
_SET = re.compile(rf"^({_NAME})\s+(in|notin)\s*\(([^()]*)\)$")
_EXISTS = re.compile(rf"^(!?)\s*({_NAME})$")
_COMPARE = re.compile(rf"^({_NAME})\s*(==|=|!=|>|<)\s*([A-Za-z0-9._-]*)$")


def label_test(selector: str | Mapping[str, Any]) -> LabelTest:
    """
    What *selector* means: text as kubectl takes it, labels to have, or an object's LabelSelector.

    An empty one means everything. Raises ValueError for text that is no selector.
    """
    text = selector if isinstance(selector, str) else selector_text(selector)
    tests = [_read(each) for each in _split(text)] if text.strip() else []
    return lambda labels: all(test(labels) for test in tests)


def selector_text(selector: Mapping[str, Any]) -> str:
    """Labels to have, or an object's LabelSelector, as query strings write it."""
    if not selector.keys() <= {"matchLabels", "matchExpressions"}:
        return ",".join(f"{name}={value}" for name, value in sorted(selector.items()))
    parts = [f"{name}={value}" for name, value in (selector.get("matchLabels") or {}).items()]
    for each in selector.get("matchExpressions") or ():
        name, operator, values = each["key"], each["operator"], ",".join(each.get("values") or ())
        forms = {"Exists": name, "DoesNotExist": f"!{name}"}
        parts.append(forms.get(operator, f"{name} {operator.lower()} ({values})"))
    return ",".join(sorted(parts))


def _split(text: str) -> Iterator[str]:
    """The requirements: commas inside parentheses separate values only."""
    yield from (part.strip() for part in re.split(r",(?![^()]*\))", text))


def _read(text: str) -> LabelTest:
    if found := _SET.match(text):
        name, word, values = found.groups()
        listed = {each.strip() for each in values.split(",")}
        if word == "in":
            return lambda labels: name in labels and labels[name] in listed
        return lambda labels: labels.get(name) not in listed
    if found := _COMPARE.match(text):
        return _comparison(*found.groups())
    if found := _EXISTS.match(text):
        absent, name = found.groups()
        return lambda labels: (name in labels) is not bool(absent)
    raise ValueError(f"found '{text}', which is no label selector")


def _comparison(name: str, operator: str, value: str) -> LabelTest:
    if operator in ("=", "=="):
        return lambda labels: labels.get(name) == value
    if operator == "!=":
        return lambda labels: labels.get(name) != value
    if not value.lstrip("-").isdecimal():
        raise ValueError(f"values[0][{name}]: for 'Gt', 'Lt' operators, the value must be an integer")
    limit = int(value)

    def compares(labels: Mapping[str, str]) -> bool:
        found = labels.get(name, "")
        if not found.lstrip("-").isdecimal():
            return False
        return int(found) > limit if operator == ">" else int(found) < limit

    return compares

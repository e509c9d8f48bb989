# SPDX-License-Identifier: Apache-2.0
"""Checks the keywords of a kind's class, so that what the API server would refuse is told where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dglop.errors import SchemaError
from dglop.runtime.api.definition import Column, Scale
from dglop.runtime.api.markers import CEL

__all__ = ("check_keywords", "checked_rules")

_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")
_COLUMN_TYPES = ("string", "integer", "number", "boolean", "date")
_SCOPES = ("Namespaced", "Cluster")


class _Class(NamedTuple):
    """Whose keywords they are."""

    name: str

    def refuse(self, keyword: str, value: Any, advice: str) -> SchemaError:
        return SchemaError(f"{self.name}: {keyword} is {value!r}; {advice}")


def check_keywords(class_name: str, given: Mapping[str, Any]) -> None:
    """Raises SchemaError, which names the class, the keyword, and what to write instead."""
    cls = _Class(class_name)
    _check_names(cls, given)
    for keyword in ("short_names", "categories", "selectable"):
        _check_texts(cls, keyword, given[keyword])
    for keyword in ("short_names", "categories"):
        for each in given[keyword]:
            _check_label(cls, keyword, each)
    _check_columns(cls, given["columns"])
    checked_rules(class_name, given["rules"])
    scale = given["scale"]
    if scale is not None and not isinstance(scale, Scale):
        raise cls.refuse("scale", scale, "write scale=Scale()")
    paths = list(given["selectable"])
    if scale is not None:
        paths += [scale.spec_path, scale.status_path, *([scale.selector_path] if scale.selector_path else [])]
    for each in paths:
        _check_path(cls, "selectable" if each in given["selectable"] else "scale", each)
    for keyword in ("storage", "served"):
        if not isinstance(given[keyword], bool):
            raise cls.refuse(keyword, given[keyword], "write True or False")


def checked_rules(class_name: str, rules: Any) -> tuple[CEL, ...]:
    """The rules as a tuple. Raises SchemaError where they are none."""
    if isinstance(rules, str | CEL | Mapping) or not isinstance(rules, Iterable):
        raise _Class(class_name).refuse("rules", rules, "write a tuple: rules=(CEL(...),)")
    found = tuple(rules)
    for each in found:
        if not isinstance(each, CEL):
            raise _Class(class_name).refuse("rules", each, "write each rule as CEL(...)")
    return found


def _check_names(cls: _Class, given: Mapping[str, Any]) -> None:
    for keyword in ("group", "version"):
        if not given[keyword]:
            raise cls.refuse(keyword, given[keyword], "a kind needs both, such as example.dev and v1")
    group = given["group"]
    if not isinstance(group, str) or len(group) > 253 or not _DOMAIN.fullmatch(group):
        raise cls.refuse("group", group, "write a domain in lower case, such as example.dev")
    for keyword in ("version", "plural", "singular"):
        if given[keyword]:
            _check_label(cls, keyword, given[keyword])
    kind = given["kind"]
    if not isinstance(kind, str) or not kind.isascii() or not _LABEL.fullmatch(kind.lower()):
        raise cls.refuse("kind", kind, "write at most 63 letters and digits, such as Greeting")
    if given["scope"] not in _SCOPES:
        raise cls.refuse("scope", given["scope"], "write 'Namespaced' or 'Cluster'")


def _check_label(cls: _Class, keyword: str, value: Any) -> None:
    if not isinstance(value, str) or not _LABEL.fullmatch(value):
        advice = "write at most 63 lower case letters, digits and dashes, with a letter first"
        raise cls.refuse(keyword, value, advice)


def _check_texts(cls: _Class, keyword: str, value: Any) -> None:
    is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    if not is_list or not all(isinstance(each, str) for each in value):
        raise cls.refuse(keyword, value, f"write a tuple of strings: {keyword}=({str(value)!r},)")


def _check_columns(cls: _Class, columns: Any) -> None:
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise cls.refuse("columns", columns, "write a dict: {'Ready': '.status.ready'}")
    for header, value in columns.items():
        if not isinstance(header, str) or not header:
            raise cls.refuse("columns", header, "each column needs a header")
        if not isinstance(value, str | Column):
            raise cls.refuse(f"columns[{header!r}]", value, "write a JSON path, or a Column")
        column = Column.of(value)
        _check_path(cls, f"columns[{header!r}]", column.path)
        if column.type not in _COLUMN_TYPES:
            raise cls.refuse(f"columns[{header!r}]", column.type, f"its type is {' or '.join(_COLUMN_TYPES)}")


def _check_path(cls: _Class, keyword: str, path: Any) -> None:
    if not isinstance(path, str) or not path.startswith("."):
        raise cls.refuse(keyword, path, "a JSON path starts with a dot: .spec.size")

# SPDX-License-Identifier: Apache-2.0
"""The text of a kubeconfig as plain values: its shape, and what of it the official loader leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("entry", "impersonation", "read_content")

_TEXTS, _TEXTS_BY_NAME = "a list of strings", "a map of lists of strings"
_WORDS: dict[Any, str] = {str: "a string; quote it", bool: "true or false, unquoted", dict: "a map"}
_SECTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "clusters": (
        "cluster",
        {
            "server": str,
            "insecure-skip-tls-verify": bool,
            "certificate-authority": str,
            "certificate-authority-data": str,
            "tls-server-name": str,
            "proxy-url": str,
        },
    ),
    "contexts": ("context", {"cluster": str, "user": str, "namespace": str}),
    "users": (
        "user",
        {
            "token": str,
            "tokenFile": str,
            "username": str,
            "password": str,
            "client-certificate": str,
            "client-certificate-data": str,
            "client-key": str,
            "client-key-data": str,
            "as": str,
            "as-uid": str,
            "as-groups": _TEXTS,
            "as-user-extra": _TEXTS_BY_NAME,
            "exec": dict,
            "auth-provider": dict,
        },
    ),
}
_EXTRA_SAFE = "!#$&'*+-.^_`|~"  # with letters and digits what a header's name may hold, less the percent


def read_content(file: str) -> dict[str, Any]:
    """What a kubeconfig says, of the shape that it must have.

    Raises TypeError, ValueError, OSError, YAMLError.
    """
    content = yaml.safe_load(Path(file).expanduser().read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        what = "empty" if content is None else f"{_article(content)}, not a map"
        raise TypeError(f"{file} is {what}; a kubeconfig has clusters, contexts and users")
    _check(content.get("current-context"), str, f"current-context of {file}")
    for section, (inner, fields) in _SECTIONS.items():
        entries = content.get(section) or []
        if not isinstance(entries, list):
            raise TypeError(f"{section} of {file} is {_article(entries)}; it must be a list")
        for index, each in enumerate(entries):
            where = f"{section}[{index}] of {file}"
            if not isinstance(each, dict) or not isinstance(each.get("name"), str):
                raise TypeError(f"{where} has no name, or one that is no string; give it a name")
            _check(each.get(inner), dict, f"{inner} in {where}")
            for field, kind in fields.items():
                _check((each.get(inner) or {}).get(field), kind, f"{field} in {where}")
    return content


def entry(contents: Sequence[Mapping[str, Any]], section: str, name: str | None) -> dict[str, Any] | None:
    """What the first file that has an entry of the name says in it; None where none has."""
    for content in contents:
        for each in content.get(section) or ():
            if each["name"] == name:
                found: dict[str, Any] = each.get(_SECTIONS[section][0]) or {}
                return found
    return None


def impersonation(user: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The headers by which a user acts as another. Raises ValueError where that one has no name."""
    name, uid = user.get("as"), user.get("as-uid")
    groups, extra = user.get("as-groups") or (), user.get("as-user-extra") or {}
    if not name:
        if uid or groups or extra:
            raise ValueError("as-uid, as-groups and as-user-extra need an `as`: whom to act as")
        return ()
    headers = [("Impersonate-User", name), *(("Impersonate-Uid", each) for each in (uid,) if each)]
    headers += [("Impersonate-Group", each) for each in groups]
    for key, values in extra.items():
        header = f"Impersonate-Extra-{quote(key.lower(), safe=_EXTRA_SAFE)}"
        headers += [(header, each) for each in values]
    return tuple(headers)


def _check(value: Any, kind: Any, where: str) -> None:
    """A null is as good as nothing; anything else has to be of the kind, or Python would guess."""
    if value is None or (isinstance(kind, type) and isinstance(value, kind)):
        return
    if (kind is _TEXTS and _are_texts(value)) or (kind is _TEXTS_BY_NAME and _are_texts_by_name(value)):
        return
    raise ValueError(f"{where} is {_article(value)}; it must be {_WORDS.get(kind, kind)}")


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _are_texts_by_name(value: Any) -> bool:
    return isinstance(value, Mapping) and _are_texts(list(value)) and all(map(_are_texts, value.values()))


def _article(value: Any) -> str:
    """The type alone: the value may be a secret."""
    names = {str: "a string", list: "a list", dict: "a map", bool: "a boolean", int: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")

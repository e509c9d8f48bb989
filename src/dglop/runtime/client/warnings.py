# SPDX-License-Identifier: Apache-2.0
"""What the API server warns of: deprecated versions, unknown fields, doubtful values."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.log import Log

__all__ = ("WarningLog", "warnings_of")

_REMEMBERED = 1024  # texts may hold names and values of objects, so there is no end of them
# RFC 7234: code, agent, quoted text; the API server's code is 299 and its agent "-".
_WARNING = re.compile(r'\b299 \S+ "((?:[^"\\]|\\.)*)"')


def warnings_of(headers: Iterable[str]) -> list[str]:
    """The texts of `Warning` headers of code 299, unquoted; what does not read as one is left out."""
    return [
        re.sub(r"\\(.)", r"\1", found) for header in headers for found in _WARNING.findall(header) if found
    ]


class WarningLog:
    """Logs each warning once; of very many, the oldest may come again."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._seen: OrderedDict[str, None] = OrderedDict()

    def __call__(self, text: str) -> None:
        if text in self._seen:
            self._seen.move_to_end(text)
            return
        self._seen[text] = None
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        self._log.warning("API server warned", warning=text)

# SPDX-License-Identifier: Apache-2.0
"""Whether an API server gives lists page by page from its memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from dglop.errors import ApiError

if TYPE_CHECKING:
    from dglop.runtime.client.client import Client

__all__ = ("has_pages", "serves_pages")

_SINCE = (1, 34)  # ListFromCacheSnapshot, on by default
_SECONDS = 10.0


class _Version(msgspec.Struct):
    major: str = ""
    minor: str = ""


async def serves_pages(client: Client) -> bool:
    """
    Whether the API server gives every page of a list from memory, as new as etcd has it.

    Then a list in pages costs it half of what the same objects cost it as initial events of a watch, and
    needs no more memory on either side. Earlier ones read pages from etcd. False where it does not say.
    """
    try:
        body = await client.raw("GET", "/version", timeout=_SECONDS, retry=False)
        found = msgspec.json.decode(body, type=_Version)
    except (ApiError, msgspec.DecodeError):
        return False
    return has_pages(found.major, found.minor)


def has_pages(major: str, minor: str) -> bool:
    """Whether a version does; some servers write their minor version as "34+"."""
    numbers = [re.match(r"\d+", part) for part in (major, minor)]
    return all(numbers) and tuple(int(each[0]) for each in numbers if each) >= _SINCE

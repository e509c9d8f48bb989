# SPDX-License-Identifier: Apache-2.0
"""What the API server can do that not every one can."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dglop.runtime.client import Client

__all__ = ("ServerFeatures", "has_container_restarts")

_FIRST_WITH_RESTARTS: Final = (1, 35)


@dataclass(slots=True)
class ServerFeatures:
    """
    What may be asked of the server; the least until `load` has read its version.

    Attributes
    ----------
        container_restarts: whether a container may state a restartPolicy of its own. An older server refuses
            a pod with one.
    """

    container_restarts: bool = False

    async def load(self, client: Client) -> None:
        """Read the server's version. Raises ApiError."""
        self.container_restarts = has_container_restarts(await client.raw("GET", "/version"))


def has_container_restarts(version: bytes) -> bool:
    """Whether the server that answers GET /version like this knows restartPolicy of containers: from 1.35."""
    try:
        found = json.loads(version)
    except ValueError:
        return False
    if not isinstance(found, dict):
        return False
    numbers = [re.match(r"\d+", str(found.get(key, ""))) for key in ("major", "minor")]  # "35+" at some
    return None not in numbers and tuple(int(each[0]) for each in numbers if each) >= _FIRST_WITH_RESTARTS

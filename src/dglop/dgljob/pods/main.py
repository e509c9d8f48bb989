# SPDX-License-Identifier: Apache-2.0
"""Which container of a template is the one that trains or partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dglop.runtime.api import RawPod

__all__ = ("main_name",)

USUAL_NAME = "dgl"


def main_name(wanted: str, pod: RawPod) -> str:
    """The main container's name: as wanted, else `dgl` if there is one, else the first; "" without any."""
    names = [each.name for each in pod.containers]
    if wanted:
        return wanted
    if USUAL_NAME in names:
        return USUAL_NAME
    return names[0] if names else ""

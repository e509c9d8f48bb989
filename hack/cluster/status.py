# SPDX-License-Identifier: Apache-2.0
"""How a cluster stands."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("Status",)


@dataclass(frozen=True)
class Status:
    """Whether the cluster can be used, and what there is to say about it."""

    running: bool
    text: str

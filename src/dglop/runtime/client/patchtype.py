# SPDX-License-Identifier: Apache-2.0
"""The kinds of patch the API server takes."""

from __future__ import annotations

from enum import StrEnum

__all__ = ("PatchType",)


class PatchType(StrEnum):
    """A kind of patch, by its media type."""

    MERGE = "application/merge-patch+json"
    """RFC 7386: objects are merged, null removes, lists are replaced."""
    JSON = "application/json-patch+json"
    """RFC 6902: a list of operations; a `test` makes it conditional."""
    STRATEGIC = "application/strategic-merge-patch+json"
    """Merges lists by key; built-in kinds only."""
    APPLY = "application/apply-patch+yaml"
    """Server-side apply: the fields that this manager wants."""

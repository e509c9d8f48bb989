# SPDX-License-Identifier: Apache-2.0
"""The one error of this package: a sentence that says what is wrong and what to do."""

from __future__ import annotations

__all__ = ("ClusterError",)


class ClusterError(Exception):
    """The cluster cannot be had; the message is meant for a person."""

# SPDX-License-Identifier: Apache-2.0
"""The one error of this package: a sentence that says what could not be measured and what to do."""

from __future__ import annotations

__all__ = ("BenchError",)


class BenchError(Exception):
    """A figure cannot be had; the message is meant for a person."""

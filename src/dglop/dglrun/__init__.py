# SPDX-License-Identifier: Apache-2.0
"""Programs that run inside a job's pods; a trainer says how far it is by `from dglrun import report`."""

from __future__ import annotations

from .progress import report

__all__ = ("VERSION", "report")

VERSION = "0.1.0"

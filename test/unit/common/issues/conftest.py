# SPDX-License-Identifier: Apache-2.0
"""The world of the acceptance cases, in memory; plans alone come from the folder above."""

from __future__ import annotations

from test.unit.testing.conftest import cases, memory_cluster

__all__ = ("cases", "memory_cluster")

# SPDX-License-Identifier: Apache-2.0
"""What the numbered tests share with those of their subjects."""

from __future__ import annotations

from dglop.testing.plugin import memory_cluster
from test.unit.runtime.cache.conftest import make_cache

__all__ = ("make_cache", "memory_cluster")

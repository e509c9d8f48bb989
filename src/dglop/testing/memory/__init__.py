# SPDX-License-Identifier: Apache-2.0
"""An API server in memory, for tests: a real one's semantics without its processes."""

from __future__ import annotations

from dglop.testing.memory.cluster import MemoryCluster
from dglop.testing.memory.faults import Effect, Fault, Faults
from dglop.testing.memory.request import Answer, Request
from dglop.testing.memory.server import MemoryServer
from dglop.testing.memory.transport import MemoryTransport, connect

__all__ = (
    "Answer",
    "Effect",
    "Fault",
    "Faults",
    "MemoryCluster",
    "MemoryServer",
    "MemoryTransport",
    "Request",
    "connect",
)

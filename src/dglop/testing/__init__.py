# SPDX-License-Identifier: Apache-2.0
"""Means for tests of operators, each loaded when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dglop.testing.builders import (
        container_status,
        make_pod,
        make_pod_wire,
        make_service,
        pod_template,
        stored,
    )
    from dglop.testing.clock import ManualClock
    from dglop.testing.cluster import FakeCluster, TestCluster
    from dglop.testing.envcluster import EnvtestCluster
    from dglop.testing.envtest import Envtest, EnvtestAssets
    from dglop.testing.memory import Effect, MemoryCluster, MemoryServer, connect
    from dglop.testing.podstatus import pod_status
    from dglop.testing.scripted import Exchange, Reply, ScriptedServer, Seen
    from dglop.testing.scripted_replies import (
        answer,
        bookmark,
        drop,
        event,
        expired,
        items,
        silence,
        status,
        stream,
        text,
    )
    from dglop.testing.simulation import Simulation

__all__ = (
    "Effect",
    "Envtest",
    "EnvtestAssets",
    "EnvtestCluster",
    "Exchange",
    "FakeCluster",
    "ManualClock",
    "MemoryCluster",
    "MemoryServer",
    "Reply",
    "ScriptedServer",
    "Seen",
    "Simulation",
    "TestCluster",
    "answer",
    "bookmark",
    "connect",
    "container_status",
    "drop",
    "event",
    "expired",
    "items",
    "make_pod",
    "make_pod_wire",
    "make_service",
    "pod_status",
    "pod_template",
    "silence",
    "status",
    "stored",
    "stream",
    "text",
)

_HOMES = {
    "dglop.testing.builders": (
        "container_status",
        "make_pod",
        "make_pod_wire",
        "make_service",
        "pod_template",
        "stored",
    ),
    "dglop.testing.clock": ("ManualClock",),
    "dglop.testing.cluster": ("FakeCluster", "TestCluster"),
    "dglop.testing.envcluster": ("EnvtestCluster",),
    "dglop.testing.envtest": ("Envtest", "EnvtestAssets"),
    "dglop.testing.memory": ("Effect", "MemoryCluster", "MemoryServer", "connect"),
    "dglop.testing.podstatus": ("pod_status",),
    "dglop.testing.scripted": ("Exchange", "Reply", "ScriptedServer", "Seen"),
    "dglop.testing.scripted_replies": (
        "answer",
        "bookmark",
        "drop",
        "event",
        "expired",
        "items",
        "silence",
        "status",
        "stream",
        "text",
    ),
    "dglop.testing.simulation": ("Simulation",),
}


def __getattr__(name: str) -> Any:
    # Some need packages that others do without: trustme for Envtest, jobs for the builders.
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'dglop.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

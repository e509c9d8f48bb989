# SPDX-License-Identifier: Apache-2.0
"""A wire that notes when an operator makes a pod that it has made already."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dglop.errors import AlreadyExistsError
from test.unit.common.calls.operator import NAMESPACE
from test.wire import Wire

if TYPE_CHECKING:
    from dglop.runtime.client import Call
    from dglop.testing.memory import MemoryCluster
    from test.unit.common.calls.watchman import Watchman

__all__ = ("WatchedWire", "restarts_of")

_EXPECTED = 300.0
"""For how long an operator knows what it made although its cache does not show it."""


class WatchedWire(Wire):
    """One operator's wire; a creation that is answered AlreadyExists for its own pod is one too many."""

    def __init__(self, cluster: MemoryCluster, watchman: Watchman) -> None:
        super().__init__()
        self._cluster = cluster
        self._watchman = watchman
        self._made: dict[str, float] = {}

    async def _send(self, call: Call, send: Any) -> bytes:
        if not (call.method == "POST" and call.path.endswith("/pods")):
            return await super()._send(call, send)
        pod = json.loads(call.body or b"{}")
        name, owner = pod["metadata"]["name"], pod["metadata"]["ownerReferences"][0]["uid"]
        now, before = self._cluster.clock.monotonic(), self._made.get(name)
        self._made[name] = now
        try:
            return await super()._send(call, send)
        except AlreadyExistsError:
            there = self._cluster.server.store.get("pods", (NAMESPACE, name))
            owners = there.wire["metadata"].get("ownerReferences") or [] if there else []
            is_own = any(each["uid"] == owner for each in owners)
            if is_own and before is not None and now - before < _EXPECTED:
                self._watchman.broken.append(f"{name} was made twice within {now - before:.1f} s")
            raise


def restarts_of(pod: dict[str, Any]) -> int:
    """How often the kubelet restarted the pod's containers."""
    return sum(each["restartCount"] for each in pod["status"].get("containerStatuses") or [])

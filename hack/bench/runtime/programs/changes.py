# SPDX-License-Identifier: Apache-2.0
"""What a loop over the official client keeps of pods, and how many of them have changed."""

from __future__ import annotations

from typing import Any

from hack.bench.runtime.programs.marks import mark

__all__ = ("Changes",)


class Changes:
    """Counts what changed since `begin`, and marks when that is `enough`."""

    def __init__(self, enough: int) -> None:
        self._left = enough
        self._counts = False

    def begin(self) -> None:
        self._counts = True

    def see(self, pods: dict[tuple[str, str], Any], pod: Any) -> None:
        """Keep the pod as it is now."""
        key = (pod.metadata.namespace, pod.metadata.name)
        old = pods.get(key)
        pods[key] = pod
        if not self._counts or old is None or _version(old) == _version(pod):
            return
        self._left -= 1
        if self._left == 0:
            mark("absorbed")


def _version(pod: Any) -> Any:
    return pod.metadata.resource_version

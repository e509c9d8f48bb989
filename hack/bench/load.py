# SPDX-License-Identifier: Apache-2.0
"""Submits a load of jobs, 16 requests at a time, and follows it by two watches to its end."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dglop.errors import TooManyRequestsError
from dglop.runtime.api import Resource
from hack.bench.figures import parse_busy
from hack.bench.observe import Observer
from hack.bench.workload import JOB_LABEL, PODS_EACH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dglop.runtime.client import Client

__all__ = ("AT_ONCE", "POD", "Timing", "run_load")

AT_ONCE = 16
POD = Resource("", "v1", "Pod", "pods")
_QUIET_SECONDS = 120.0
_ASK_AGAIN_SECONDS = 0.25
_LIMIT_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class Timing:
    """
    Seconds from the first request: until all jobs were done, all was submitted, all pods were created.

    `pods_p50` is the median until a job had its pods, from its own request. `busy` is what all cores of the
    machine spent meanwhile, whoever used them.
    """

    wall: float
    submitted: float
    pods_all: float
    pods_p50: float
    busy: float
    pods: int


async def run_load(
    client: Client,
    namespace: str,
    manifests: Sequence[dict[str, Any]],
    *,
    note: Callable[[str], None] = lambda _text: None,
    resource: Resource | None = None,
    pods_each: int = PODS_EACH,
    heard: Callable[[bytes], None] = lambda _line: None,
) -> Timing:
    """
    Create the manifests and wait until every job has succeeded.

    `resource` is the jobs' resource, or None where the manifests are bare pods with a job's label. `heard` is
    given each line of the watch on the jobs.

    Raises:
        BenchError: a job or a pod failed.
        TimeoutError: the load is not done in half an hour.
    """
    jobs = dict.fromkeys(_job_of(each) for each in manifests)
    observer = Observer(jobs, pods_each, by_pods=resource is None)
    load = _Load(client, namespace, observer, note, len(jobs))
    before = _busy()
    async with asyncio.timeout(_LIMIT_SECONDS), asyncio.TaskGroup() as group:
        watches = [group.create_task(load.watch(POD, observer.pod_event))]
        if resource is not None:
            watches.append(group.create_task(load.watch(resource, observer.job_event, heard)))
        submitted = await load.submit(manifests)
        await load.finished.wait()
        for watch in watches:
            watch.cancel()
    return Timing(
        observer.wall, submitted, observer.pods_all, observer.pods_p50, _busy() - before, observer.pods
    )


def _busy() -> float:
    return parse_busy(Path("/proc/stat").read_text(), os.sysconf("SC_CLK_TCK"))


def _job_of(manifest: dict[str, Any]) -> str:
    metadata = manifest["metadata"]
    return str(metadata.get("labels", {}).get(JOB_LABEL) or metadata["name"])


class _Load:
    def __init__(
        self, client: Client, namespace: str, observer: Observer, note: Callable[[str], None], total: int
    ) -> None:
        self.finished = asyncio.Event()
        self._client = client
        self._namespace = namespace
        self._observer = observer
        self._note = note
        self._total = total
        self._now = asyncio.get_running_loop().time

    async def watch(
        self,
        resource: Resource,
        feed: Callable[[bytes, float], None],
        heard: Callable[[bytes], None] = lambda _line: None,
    ) -> None:
        """Feed the observer, from what is there on; a watch that the server ends is begun again."""
        path = resource.path(self._namespace)
        while True:
            try:
                async for line in self._client.stream(
                    path, query={"watch": "true"}, read_idle=_QUIET_SECONDS
                ):
                    feed(line, self._now())
                    heard(line)
                    self._tell()
            except TooManyRequestsError:  # a CRD that was made just now is served a little later
                await asyncio.sleep(_ASK_AGAIN_SECONDS)

    def _tell(self) -> None:
        self._note(f"{self._observer.done} of {self._total} jobs done")
        if self._observer.finished:
            self.finished.set()

    async def submit(self, manifests: Sequence[dict[str, Any]]) -> float:
        """Create all, AT_ONCE requests at a time; the seconds that it took."""
        waiting = iter(manifests)
        began = self._now()

        async def sender() -> None:
            for manifest in waiting:
                self._observer.sent(_job_of(manifest), self._now())
                await self._client.create(manifest)

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(sender())
        return self._now() - began

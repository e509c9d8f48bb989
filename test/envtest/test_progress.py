# SPDX-License-Identifier: Apache-2.0
"""Reports of progress from two replicas of the operator, on a real API server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dgljob import DGLJob
from dglop.dgljob.progress import JobRef
from dglop.dgljob.progress_store import CachedJobs
from dglop.dgljob.report import Report
from dglop.errors import ConflictError
from dglop.runtime.cache import Cache

if TYPE_CHECKING:
    from dglop.runtime.client import Client

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class _Doors:
    cache: Cache
    client: Client


def _report(second: int) -> Report:
    moment = datetime(2026, 1, 1, second=second, microsecond=250_000, tzinfo=UTC)
    return Report(at=moment, attempt=1, percentage=second, metrics=(("loss", "0.5"),))


async def _make(client: Client, namespace: str) -> dict[str, Any]:
    container = {"name": "main", "image": "example.dev/any", "command": ["true"]}
    specs = {"Launcher": {"template": {"spec": {"containers": [container]}}}}
    spec = {"partitionMode": "Skip", "dglReplicaSpecs": specs}
    metadata = {"name": "job", "namespace": namespace}
    kind, version = DGLJob.resource.kind, DGLJob.resource.api_version
    return await client.create({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})


async def test_an_older_report_is_not_written_after_a_later_one_of_another_replica(
    client: Client, namespace: str
) -> None:
    made = await _make(client, namespace)
    ref = JobRef(namespace, "job", made["metadata"]["uid"])
    behind, ahead = Cache(client), Cache(client)
    behind.informer(DGLJob)
    ahead.informer(DGLJob)
    await behind.start()
    await behind.wait_synced(30)
    await behind.stop()  # from here on it shows the past
    await ahead.start()
    await ahead.wait_synced(30)
    try:
        late, early = CachedJobs(_Doors(ahead, client)), CachedJobs(_Doors(behind, client))
        assert await late.write(ref, _report(50), _NOW)
        assert not await early.write(ref, _report(40), _NOW)
        assert await early.write(ref, _report(51), _NOW), "a later one is written in spite of the old cache"
    finally:
        await ahead.stop()
    trainer = (await client.get(DGLJob.resource, "job", namespace))["status"]["trainer"]
    assert trainer["progress"] == "51%"
    assert trainer["reportTime"] == "2026-01-01T00:00:51.250000Z"


async def test_an_apply_on_another_version_than_the_one_named_is_refused(
    client: Client, namespace: str
) -> None:
    made = await _make(client, namespace)
    metadata = {"name": "job", "namespace": namespace}
    body = {"apiVersion": made["apiVersion"], "kind": made["kind"], "metadata": metadata}
    version = made["metadata"]["resourceVersion"]
    first = {**body, "status": {"trainer": {"progress": "1%"}}}
    await client.apply(first, subresource="status", version=version)
    with pytest.raises(ConflictError):
        await client.apply(
            first | {"status": {"trainer": {"progress": "2%"}}}, subresource="status", version=version
        )

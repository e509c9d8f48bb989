# SPDX-License-Identifier: Apache-2.0
"""What becomes of a report where another replica of the operator wrote a later one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dgljob import DGLJob
from dglop.dgljob.progress import JobRef
from dglop.dgljob.progress_store import CachedJobs
from dglop.dgljob.report import Report
from dglop.errors import ConflictError, NotFoundError
from dglop.runtime.cache import Cache
from dglop.runtime.client import Client, ClientConfig
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_replies import answer, items, silence, status
from test.unit.dgljob.dgljob_world import UID

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.testing.scripted import Seen

pytestmark = pytest.mark.scripted

NOW = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
CONFLICT = status(409, "Conflict", "the object has been modified")


def at(second: int) -> Report:
    return Report(at=datetime(2026, 1, 1, second=second, tzinfo=UTC), attempt=1, percentage=second)


def job(version: int, reported: int | None = None, uid: str = UID) -> dict[str, Any]:
    """The job at this version, which shows the report of that second."""
    metadata = {"name": "g", "namespace": "t", "uid": uid, "resourceVersion": str(version)}
    shown: dict[str, Any] = {"attempt": 1}
    if reported is not None:
        shown["trainer"] = {"attempt": 1, "reportTime": f"2026-01-01T00:00:{reported:02d}.000000Z"}
    return {"kind": "DGLJob", "apiVersion": "kubeflow.org/v1alpha1", "metadata": metadata, "status": shown}


@dataclass(frozen=True)
class Doors:
    cache: Cache
    client: Client


@dataclass(frozen=True)
class Replica:
    """One operator's store, whose cache shows what the first list of the server showed."""

    jobs: CachedJobs
    server: ScriptedServer

    async def write(self, report: Report) -> bool:
        return await self.jobs.write(JobRef("t", "g", UID), report, NOW)

    def versions(self) -> list[str]:
        """The versions that writes were made on."""
        return [each.json()["metadata"]["resourceVersion"] for each in self.server.requests if is_write(each)]


def is_write(seen: Seen) -> bool:
    return seen.method == "PATCH"


def is_read(seen: Seen) -> bool:
    return seen.method == "GET" and seen.path.endswith("/g")


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as running:
        running.watches(silence)
        yield running


@pytest.fixture
async def replica(server: ScriptedServer) -> AsyncIterator[Replica]:
    async with await Client.connect(ClientConfig(host=server.url)) as client:
        cache = Cache(client, streams=False)
        cache.informer(DGLJob)
        server.on(lambda seen: seen.path.endswith("/dgljobs"), items([job(5, 10)], "5"))
        await cache.start()
        await cache.wait_synced(30)
        yield Replica(CachedJobs(Doors(cache, client)), server)
        await cache.stop()


async def test_a_report_is_written_on_the_version_that_it_was_compared_with(replica: Replica) -> None:
    replica.server.on(is_write, answer(job(6)))
    assert await replica.write(at(11))
    assert replica.versions() == ["5"]
    (written,) = [each.json() for each in replica.server.requests if is_write(each)]
    assert written["status"]["trainer"]["reportTime"] == "2026-01-01T00:00:11.000000Z"


async def test_a_report_that_the_cache_is_ahead_of_costs_no_request(replica: Replica) -> None:
    before = len(replica.server.requests)
    assert not await replica.write(at(9))
    assert len(replica.server.requests) == before


async def test_a_later_report_that_the_cache_does_not_show_yet_is_not_replaced(replica: Replica) -> None:
    replica.server.on(is_write, CONFLICT)
    replica.server.on(is_read, answer(job(7, 30)))
    assert not await replica.write(at(11))
    assert replica.versions() == ["5"]


async def test_another_change_of_the_job_delays_a_report_and_loses_none(replica: Replica) -> None:
    replica.server.on(is_write, CONFLICT, CONFLICT, answer(job(9)))
    replica.server.on(is_read, answer(job(7, 10)), answer(job(8, 10)))
    assert await replica.write(at(11))
    assert replica.versions() == ["5", "7", "8"]


async def test_a_job_that_never_stands_still_is_given_up_as_a_conflict(replica: Replica) -> None:
    replica.server.on(is_write, CONFLICT)
    replica.server.on(is_read, answer(job(7, 10)))
    with pytest.raises(ConflictError):
        await replica.write(at(11))
    assert replica.versions() == ["5", "7", "7", "7", "7"]


async def test_another_job_of_the_same_name_gets_no_report_of_the_one_before(replica: Replica) -> None:
    replica.server.on(is_write, CONFLICT)
    replica.server.on(is_read, answer(job(7, uid="another")))
    with pytest.raises(NotFoundError, match="another job"):
        await replica.write(at(11))
    assert replica.versions() == ["5"]

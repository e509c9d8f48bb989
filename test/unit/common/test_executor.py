# SPDX-License-Identifier: Apache-2.0
"""What is asked of the server when a plan is carried out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from dglop.common.actions import CreatePod, Plan
from dglop.common.constants import LABEL_JOB_NAME
from dglop.common.executor import Executor
from dglop.common.memory import JobMemory
from dglop.common.writes import Writes
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.expectations import Expectations
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_replies import answer, status

if TYPE_CHECKING:
    from dglop.runtime.context import Context

pytestmark = pytest.mark.scripted

SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "t"}}


async def test_an_object_is_made_once_in_an_attempt_and_again_in_the_next(make_job):
    job, memory = make_job(), JobMemory("uid-g")
    async with ScriptedServer() as server, await Client.connect(ClientConfig(host=server.url)) as client:
        server.on(lambda _: True, answer(SECRET, 201))
        for attempt, asked in ((1, 1), (1, 1), (2, 2)):
            job.status.attempt = attempt
            plan = Plan(status=job.status, objects=(SECRET,))
            ctx = cast("Context", SimpleNamespace(client=client))
            await Executor(ctx, job, _writes(ctx, job), memory).create(plan)
            assert len(server.requests) == asked


async def test_an_object_that_was_deleted_while_pods_wait_for_it_is_made_again_and_told(make_job):
    job, memory = make_job(), JobMemory("uid-g")
    async with ScriptedServer() as server, await Client.connect(ClientConfig(host=server.url)) as client:
        server.on(lambda _: True, answer(SECRET, 201))
        ctx = cast("Context", SimpleNamespace(client=client))
        for recheck, now, asked, told in ((False, 0, 1, []), (True, 1, 2, ["Secret s"]), (True, 2, 2, [])):
            if recheck:
                memory.recheck(now)
            executor = Executor(ctx, job, _writes(ctx, job), memory)
            await executor.create(Plan(status=job.status, objects=(SECRET,), recheck=recheck))
            assert (len(server.requests), executor.report.remade) == (asked, told)


async def test_a_pod_of_ours_that_lost_its_label_makes_room_for_one_that_is_seen(make_job):
    job = make_job()
    owners = [{"uid": job.uid}]
    manifest = _pod(labels={LABEL_JOB_NAME: "g"}, ownerReferences=owners)
    unseen = _pod(labels={}, uid="uid-old", ownerReferences=owners)
    async with ScriptedServer() as server, await Client.connect(ClientConfig(host=server.url)) as client:
        server.on(lambda asked: asked.method == "POST", status(409, "AlreadyExists"))
        server.on(lambda asked: asked.method == "GET", answer(unseen))
        server.on(lambda asked: asked.method == "DELETE", answer(unseen))
        ctx = cast("Context", SimpleNamespace(client=client, cached=lambda *_: None))
        executor = Executor(ctx, job, _writes(ctx, job), JobMemory("uid-g"))
        await executor.create(Plan(status=job.status, creates=(CreatePod("worker", 0, manifest),)))
        *_, deletion = (each for each in server.requests if each.method == "DELETE")
    assert (deletion.method, deletion.json()["preconditions"]["uid"]) == ("DELETE", "uid-old")
    assert "lost its label" in executor.report.blocked[0]


async def test_fields_that_no_pod_has_are_kept_to_be_told_once_a_spec(make_job):
    job, memory = make_job(), JobMemory("uid-g")
    warning = '299 - "unknown field \\"spec.tolerationz\\"", 299 - "would violate PodSecurity"'
    creates = tuple(CreatePod(role, 0, _pod()) for role in ("worker", "worker", "launcher"))
    async with ScriptedServer() as server, await Client.connect(ClientConfig(host=server.url)) as client:
        server.on(lambda _: True, answer(_pod(), 201, {"Warning": warning}))
        ctx = cast("Context", SimpleNamespace(client=client, cached=lambda *_: None))

        async def create():
            executor = Executor(ctx, job, _writes(ctx, job), memory)
            await executor.create(Plan(status=job.status, creates=creates))
            return memory.ignored.untold()

        job.status.observed_spec_hash = "one"
        everything = {"worker": ["spec.tolerationz"], "launcher": ["spec.tolerationz"]}
        assert await create() == everything
        assert await create() == everything, "until it was told"
        memory.ignored.told()
        assert await create() == {}
        job.status.observed_spec_hash = "another"
        assert await create() == everything
        assert len(server.requests) == 4 * len(creates)


def _pod(**metadata):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "t", **metadata}}


def _writes(ctx, job):
    return Writes(ctx.client, job.namespace, Expectations(lambda: 0.0))

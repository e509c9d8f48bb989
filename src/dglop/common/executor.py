# SPDX-License-Identifier: Apache-2.0
"""Carries a plan out: creates and deletes children, at most so many at a time, with expectations."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dglop.common.constants import LABEL_JOB_NAME, POD, SERVICE
from dglop.common.ignored import ignored_field
from dglop.common.reasons import Reason
from dglop.common.report import Report
from dglop.common.watching import GROUPS, SERVICES
from dglop.errors import (
    AlreadyExistsError,
    ApiConnectionError,
    ApiError,
    BadRequestError,
    ConflictError,
    InvalidError,
    NotFoundError,
)
from dglop.runtime.api.resource import resource_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from dglop.common.actions import (
        CreatePod,
        DeleteGroup,
        DeletePod,
        DeleteService,
        Plan,
        WriteGroup,
    )
    from dglop.common.memory import JobMemory
    from dglop.common.watching import ExpectationKey
    from dglop.common.writes import Writes
    from dglop.runtime.context import Context

__all__ = ("Executor",)

CONCURRENCY: Final = 16


class Executor:
    """
    Writes the children of one job.

    Raises ApiError where neither the job nor its children are at fault, as when no answer comes.
    """

    def __init__(self, ctx: Context, job: Any, writes: Writes, memory: JobMemory) -> None:
        self._client = ctx.client
        self._ctx = ctx
        self._job = job
        self._memory = memory
        self._writes = writes
        self.report: Report = Report()

    async def delete(self, plan: Plan) -> None:
        await _together(self._delete_pod, plan.delete_pods)
        await _together(self._delete_service, plan.delete_services)
        await _together(self._delete_group, plan.delete_groups)

    async def create(self, plan: Plan) -> None:
        """Objects, PodGroups, Services, pods; what comes first must be there before the next."""
        self._memory.begin(plan.status.attempt)
        self._memory.ignored.begin(plan.status.observed_spec_hash)
        for manifest in plan.objects:
            await self._create_object(manifest)  # one after the other: a RoleBinding needs its Role
        if not plan.recheck:
            self.report.remade.clear()  # they were made for the first time
        await _together(self._write_group, plan.groups)
        await _together(self._create_service, plan.services)
        if self.report.is_stopped or self.report.blocked:
            return
        await _together(self._create_pod, plan.creates)

    async def _write_group(self, group: WriteGroup) -> None:
        """Make the group, or bring the one that is there up to the job."""
        if self.report.is_stopped:
            return
        try:
            if group.uid:
                await self._change_group(group)
            else:
                key = (self._job.uid, GROUPS)
                await self._writes.create(key, group.manifest, resource=group.resource)
                self.report.groups_created += 1
        except ApiError as error:
            await self._judge(error, group.manifest)

    async def _change_group(self, group: WriteGroup) -> None:
        """Only fields of ours: the queue may be another by now, and the scheduler's notes stay."""
        metadata = {"uid": group.uid, "annotations": group.manifest["metadata"]["annotations"]}
        body = {"metadata": metadata, "spec": group.manifest["spec"]}
        try:
            await self._client.patch(group.resource, group.name, self._job.namespace, body)
        except (NotFoundError, ConflictError) as error:
            self._writes.contest(error)
        except (InvalidError, BadRequestError) as error:
            # What runs need not end because its group stays as it is.
            self.report.deny(
                Reason.FAILED_CREATE_POD_GROUP, f"PodGroup {group.name} stays as it is: {error.message}"
            )

    async def _create_pod(self, create: CreatePod) -> None:
        if self.report.is_stopped:
            return  # the next would be answered alike: do not hammer
        stranger = self._stranger(create)
        if stranger:
            self.report.blocked.append(stranger)
            return
        key = (self._job.uid, create.role.lower())
        heeding = self._client.with_warnings(partial(self._heed, create))
        try:
            await self._writes.create(key, create.manifest, client=heeding)
        except ApiError as error:
            await self._judge(error, create.manifest)
        else:
            self.report.created += 1

    def _heed(self, create: CreatePod, warning: str) -> None:
        """Nobody who looks at the job sees the server's warnings about its pods."""
        if found := ignored_field(warning, create.manifest):
            self._memory.ignored.add(create.role, found)

    def _stranger(self, create: CreatePod) -> str:
        """Who has the pod's name already, as far as the cache knows: it need not be tried then."""
        found = self._ctx.cached(POD, create.name, self._job.namespace)
        if found is None or found.controller_uid() == self._job.uid:
            return ""
        what = "is on its way out" if found.is_deleting else "exists already"
        return f"Pod {create.name} {what} and does not belong to this job"

    async def _create_service(self, manifest: dict[str, Any]) -> None:
        name, key = manifest["metadata"]["name"], (self._job.uid, SERVICES)
        if self.report.is_stopped or self._is_expected(key, name):
            return
        try:
            await self._writes.create(key, manifest)
        except ApiError as error:
            await self._judge(error, manifest)
        else:
            self.report.services_created += 1

    def _is_expected(self, key: ExpectationKey, name: str) -> bool:
        expectations = self._writes.expectations
        return not expectations.satisfied(key) and name in expectations.pending(key)[0]

    async def _create_object(self, manifest: dict[str, Any]) -> None:
        key = kind, name = manifest["kind"], manifest["metadata"]["name"]
        if self.report.is_stopped or key in self._memory.objects:
            return
        try:
            await self._client.create(manifest)
        except ApiError as error:
            if not await self._judge(error, manifest):
                return
        else:
            self.report.remade.append(f"{kind} {name}")
        self._memory.objects.add(key)

    async def _judge(self, error: ApiError, manifest: dict[str, Any]) -> bool:
        """What a failed creation means; True where the object is there and the job's own."""
        what = f"{manifest['kind']} {manifest['metadata']['name']}"
        match error:
            case AlreadyExistsError():
                return await self._is_own(manifest, what)
            case InvalidError() | BadRequestError():
                self.report.refused = f"{what} was refused: {error.message}"
            case ApiConnectionError():
                raise error
            case _:
                self._deny(error, manifest, what)
        self.report.lacks(manifest["kind"])
        return False

    def _deny(self, error: ApiError, manifest: dict[str, Any], what: str) -> None:
        note, is_group = f"{what} was not created: {error.message}", manifest["kind"] == "PodGroup"
        if is_group and isinstance(error, NotFoundError):
            crd = resource_of(manifest).group_resource
            note += f"; is the CRD {crd} installed? The operator was started with --gang-scheduler for it"
        self.report.deny(Reason.FAILED_CREATE_POD_GROUP if is_group else Reason.FAILED_CREATE_POD, note)

    async def _is_own(self, manifest: dict[str, Any], what: str) -> bool:
        """Whether the object that has the name is the job's; if not, it is waited out."""
        wanted = manifest["metadata"].get("ownerReferences")
        if manifest["kind"] == "Secret" or not wanted:
            # A Secret's name carries the job's UID, and what outlives jobs belongs to none of them.
            return True
        place = manifest["metadata"].get("namespace")
        self.report.asked = True
        try:
            found = await self._client.get(resource_of(manifest), manifest["metadata"]["name"], place)
        except NotFoundError:
            self.report.blocked.append(f"{what} is on its way out")
            return False
        owners = found["metadata"].get("ownerReferences") or []
        if any(each.get("uid") == self._job.uid for each in owners):
            return await self._is_visible(manifest, found, what)
        owner = next((f"{each.get('kind')} {each.get('name')}" for each in owners), "nobody")
        self.report.blocked.append(f"{what} exists already and belongs to {owner}, not to this job")
        return False

    async def _is_visible(self, manifest: dict[str, Any], found: dict[str, Any], what: str) -> bool:
        """A pod of ours without the label by which it is watched is never seen again: it has to make room."""
        wanted = manifest["metadata"]["labels"].get(LABEL_JOB_NAME)
        has = (found["metadata"].get("labels") or {}).get(LABEL_JOB_NAME)
        if manifest["kind"] != "Pod" or has == wanted:
            return True
        lost = f"{what} has lost its label {LABEL_JOB_NAME}"
        self.report.blocked.append(f"{lost}: it is deleted and made again")
        with suppress(NotFoundError, ConflictError):
            name, place = found["metadata"]["name"], found["metadata"]["namespace"]
            await self._client.delete(POD, name, place, uid=found["metadata"]["uid"])
        return False

    async def _delete_pod(self, doomed: DeletePod) -> None:
        key = (self._job.uid, doomed.role)
        seconds = doomed.grace_seconds
        if await self._writes.delete(key, POD, doomed.name, doomed.uid, grace_seconds=seconds):
            self.report.deleted += 1

    async def _delete_group(self, doomed: DeleteGroup) -> None:
        key = (self._job.uid, GROUPS)
        if await self._writes.delete(key, doomed.resource, doomed.name, doomed.uid):
            self.report.groups_deleted += 1

    async def _delete_service(self, doomed: DeleteService) -> None:
        try:
            await self._client.delete(SERVICE, doomed.name, self._job.namespace, uid=doomed.uid)
        except (NotFoundError, ConflictError) as error:
            self._writes.contest(error)


async def _together(work: Callable[[Any], Awaitable[None]], items: Iterable[Any]) -> None:
    """Do *work* on all items, some at a time; the first error is raised when all have ended."""
    gate = asyncio.Semaphore(CONCURRENCY)

    async def one(item: Any) -> None:
        async with gate:
            await work(item)

    results = await asyncio.gather(*(one(item) for item in items), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result

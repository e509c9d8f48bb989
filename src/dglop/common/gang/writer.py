# SPDX-License-Identifier: Apache-2.0
"""Carries out what a plan says of PodGroups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.watching import GROUPS
from dglop.errors import (
    AlreadyExistsError,
    ApiConnectionError,
    ApiError,
    BadRequestError,
    ConflictError,
    InvalidError,
    NotFoundError,
)

if TYPE_CHECKING:
    from dglop.common.actions import DeleteGroup, WriteGroup
    from dglop.common.watching import ExpectationKey
    from dglop.runtime.client import Client
    from dglop.runtime.expectations import Expectations

__all__ = ("GroupWriter",)


class GroupWriter:
    """
    Writes the groups of one job.

    Attributes
    ----------
        refused: the server's words about a group that it will never take.
        denied: its words, or ours, about one that cannot be made now.
        blocked: groups whose names are taken by objects of others.

    Raises ApiError where the group is not at fault, as when no answer comes.
    """

    def __init__(self, client: Client, job: Any, expectations: Expectations[ExpectationKey]) -> None:
        self._client = client
        self._job = job
        self._expectations = expectations
        self._key = (job.uid, GROUPS)
        self.refused: str = ""
        self.denied: str = ""
        self.blocked: str = ""

    async def write(self, group: WriteGroup) -> None:
        """Make the group, or bring the one that is there up to the job."""
        what = f"{group.resource.kind} {group.name}"
        try:
            await (self._update(group) if group.uid else self._create(group, what))
        except (InvalidError, BadRequestError) as error:
            self.refused = f"{what} was refused: {error.message}"
        except ApiConnectionError:
            raise
        except NotFoundError as error:
            kind = group.resource.group_resource
            self.denied = (
                f"{what} was not created: {error.message}; is the CRD {kind} installed? "
                "The operator was started with --gang-scheduler for it"
            )
        except ApiError as error:
            self.denied = f"{what} was not created: {error.message}"

    async def delete(self, doomed: DeleteGroup) -> None:
        self._expectations.expect(self._key, deletions=[doomed.uid])
        try:
            await self._client.delete(doomed.resource, doomed.name, self._job.namespace, uid=doomed.uid)
        except (NotFoundError, ConflictError):
            self._expectations.deletion_failed(self._key, doomed.uid)  # gone already, or made anew
        except ApiError as error:
            if not (isinstance(error, ApiConnectionError) and error.sent) and error.status != 504:
                self._expectations.deletion_failed(self._key, doomed.uid)
            raise

    async def _create(self, group: WriteGroup, what: str) -> None:
        self._expectations.expect(self._key, creations=[group.name])
        try:
            await self._client.create(group.manifest, resource=group.resource)
        except AlreadyExistsError:
            self._expectations.creation_failed(self._key, group.name)
            await self._judge_other(group, what)
        except ApiError as error:
            if not (isinstance(error, ApiConnectionError) and error.sent) and error.status != 504:
                self._expectations.creation_failed(self._key, group.name)
            raise

    async def _judge_other(self, group: WriteGroup, what: str) -> None:
        """One of ours that the cache does not show yet is as good as made; another's is waited out."""
        try:
            found = await self._client.get(group.resource, group.name, self._job.namespace)
        except NotFoundError:
            self.blocked = f"{what} is on its way out"
            return
        owners = found["metadata"].get("ownerReferences") or []
        if not any(each.get("uid") == self._job.uid for each in owners):
            owner = next((f"{each.get('kind')} {each.get('name')}" for each in owners), "nobody")
            self.blocked = f"{what} exists already and belongs to {owner}, not to this job"

    async def _update(self, group: WriteGroup) -> None:
        """Only fields of ours: the queue may be another by now, and the scheduler's notes stay."""
        metadata = {"uid": group.uid, "annotations": group.manifest["metadata"]["annotations"]}
        body = {"metadata": metadata, "spec": group.manifest["spec"]}
        await self._client.patch(group.resource, group.name, self._job.namespace, body)

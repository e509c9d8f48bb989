# SPDX-License-Identifier: Apache-2.0
"""Adopting orphans that match a selector, and letting go of what no longer does."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from dglop.errors import ConflictError, InvalidError, NotFoundError
from dglop.runtime.api import owner_reference
from dglop.runtime.api.resource import is_builtin, resource_of
from dglop.runtime.client import PatchType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dglop.runtime.cache import Cached
    from dglop.runtime.client import Client

__all__ = ("Claim", "Claims", "claim_of", "labels_match")


class Claim(StrEnum):
    """What becomes of an object that an owner might have."""

    KEEP = "keep"
    ADOPT = "adopt"
    RELEASE = "release"
    IGNORE = "ignore"


def claim_of(obj: Cached, owner_uid: str, *, matches: bool, is_owner_deleting: bool) -> Claim:
    """
    What an owner makes of *obj*, by the rules of Kubernetes' own controllers.

    Another's object is none of its business; its own it keeps while it matches. An owner on its way out
    takes and releases nothing: the garbage collector sees to the rest. A dying orphan is not adopted.
    """
    controller = obj.controller_uid()
    if controller is not None:
        if controller != owner_uid:
            return Claim.IGNORE
        if matches:
            return Claim.KEEP
        return Claim.IGNORE if is_owner_deleting else Claim.RELEASE
    if is_owner_deleting or not matches or obj.is_deleting:
        return Claim.IGNORE
    return Claim.ADOPT


class Claims:
    """
    One pass of claiming for one owner; make a new one for each reconciliation.

    Guarantees: before the first adoption the owner is read from the API server itself, once, and nothing is
    adopted if it is being deleted or is another of that name; every patch holds only for the very object
    that was looked at. Assumptions: the candidates include orphans, so they were not found by their owner.
    """

    def __init__(self, client: Client, owner: Any, matches: Callable[[Cached], bool]) -> None:
        self._client = client
        self._owner = owner
        self._reference = owner_reference(owner)
        self._matches = matches
        self._may_adopt: bool | None = None

    async def claim(self, candidates: Iterable[Cached]) -> list[Cached]:
        """
        Those that are the owner's or became so; an adopted one is given as it was before.

        Raises ConflictError where a candidate changed meanwhile, and other errors of the API server.
        """
        mine = []
        for obj in candidates:
            deleting = bool(self._owner.metadata.deletion_timestamp)
            uid = self._reference["uid"]
            match claim_of(obj, uid, matches=self._matches(obj), is_owner_deleting=deleting):
                case Claim.KEEP:
                    mine.append(obj)
                case Claim.ADOPT if await self.adopt(obj):
                    mine.append(obj)
                case Claim.RELEASE:
                    await self.release(obj)
        return mine

    async def adopt(self, obj: Cached) -> bool:
        """Make the owner *obj*'s controller; False if either is gone, is another now, or is taken."""
        if not await self._owner_lives():
            return False
        reference = dict(self._reference)
        others = [each for each in _references(obj) if each["uid"] != reference["uid"]]
        return await self._patch(obj, [reference], [*others, reference])

    async def release(self, obj: Cached) -> bool:
        """Take the owner from *obj*'s references; False if it is gone or no longer the owner's."""
        uid = self._reference["uid"]
        rest = [each for each in _references(obj) if each["uid"] != uid]
        return await self._patch(obj, [{"$patch": "delete", "uid": uid}], rest)

    async def _owner_lives(self) -> bool:
        if self._may_adopt is None:
            resource, name = resource_of(self._owner), self._reference["name"]
            try:
                fresh = await self._client.metadata.get(resource, name, self._owner.metadata.namespace)
            except NotFoundError:
                self._may_adopt = False
            else:
                self._may_adopt = fresh.uid == self._reference["uid"] and not fresh.is_deleting
        return self._may_adopt

    async def _patch(self, obj: Cached, change: list[dict[str, Any]], whole: list[dict[str, Any]]) -> bool:
        metadata: dict[str, Any] = {"uid": obj.uid}
        if is_builtin(obj.resource):
            # Merged by uid on the server, so that another owner that came meanwhile stays.
            how, metadata["ownerReferences"] = PatchType.STRATEGIC, change
        else:
            # The list is replaced, so it must still be the one that was seen.
            how, metadata["ownerReferences"] = PatchType.MERGE, whole or None
            metadata["resourceVersion"] = obj.resource_version
        body = {"metadata": metadata}
        try:
            await self._client.patch(obj.resource, obj.name, obj.namespace or None, body, how=how)
        except (NotFoundError, InvalidError):
            return False
        except ConflictError as error:
            if _is_another(error):
                return False
            raise
        return True


def labels_match(labels: Mapping[str, str]) -> Callable[[Cached], bool]:
    """A selector for Claims: objects that have all these labels."""
    return lambda obj: all(obj.meta.labels.get(key) == value for key, value in labels.items())


def _references(obj: Cached) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": each.api_version,
            "kind": each.kind,
            "name": each.name,
            "uid": each.uid,
            **({} if each.controller is None else {"controller": each.controller}),
            **(
                {} if each.block_owner_deletion is None else {"blockOwnerDeletion": each.block_owner_deletion}
            ),
        }
        for each in obj.meta.owner_references
    ]


def _is_another(error: ConflictError) -> bool:
    """Whether the object has another uid now, which the server calls a conflict too."""
    return any(words in error.message for words in ("uid mismatch", "UID in precondition"))

# SPDX-License-Identifier: Apache-2.0
"""Creates and deletes one job's children, and takes down what the cache has to show of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.errors import ApiConnectionError, ApiError, ConflictError, NotFoundError

if TYPE_CHECKING:
    from dglop.common.watching import ExpectationKey
    from dglop.runtime.api import Resource
    from dglop.runtime.client import Client
    from dglop.runtime.expectations import Expectations

__all__ = ("Writes",)


class Writes:
    """
    Writes whose expectations are right whatever becomes of them.

    A write that failed is not expected, except where the server may have done it without saying so.
    `contested` says whether a write met a change of its object: it may have to be tried again, and no event
    says so. Whoever writes children of a job in one turn does it through the same one of these.
    """

    def __init__(self, client: Client, namespace: str, expectations: Expectations[ExpectationKey]) -> None:
        self._client = client
        self._namespace = namespace
        self.expectations: Expectations[ExpectationKey] = expectations
        self.contested: bool = False

    async def create(
        self,
        key: ExpectationKey,
        manifest: dict[str, Any],
        *,
        resource: Resource | None = None,
        client: Client | None = None,
    ) -> None:
        """Create one child, through *client* if it is given. Raises ApiError."""
        name = manifest["metadata"]["name"]
        self.expectations.expect(key, creations=[name])
        try:
            await (client or self._client).create(manifest, resource=resource)
        except ApiError as error:
            if not _may_have_happened(error):
                self.expectations.creation_failed(key, name)
            raise

    async def delete(
        self,
        key: ExpectationKey,
        resource: Resource,
        name: str,
        uid: str,
        *,
        grace_seconds: int | None = None,
    ) -> bool:
        """Delete one child; False where it is gone already, or another has its name. Raises ApiError."""
        self.expectations.expect(key, deletions=[uid])
        try:
            await self._client.delete(resource, name, self._namespace, uid=uid, grace_seconds=grace_seconds)
        except (NotFoundError, ConflictError) as error:
            self.expectations.deletion_failed(key, uid)
            self.contest(error)
            return False
        except ApiError as error:
            if not _may_have_happened(error):
                self.expectations.deletion_failed(key, uid)
            raise
        return True

    def contest(self, error: ApiError) -> None:
        """Take down that a child is gone already, or has changed, or another has its name."""
        self.contested = self.contested or isinstance(error, ConflictError)


def _may_have_happened(error: ApiError) -> bool:
    """Whether the server may have done it although it did not say so."""
    if isinstance(error, ApiConnectionError):
        return error.sent
    return error.status == 504

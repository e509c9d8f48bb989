# SPDX-License-Identifier: Apache-2.0
"""Expectations of a job's pods and Services: what was created or deleted and the cache does not show yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.common.constants import LABEL_REPLICA_TYPE, SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.cache import Cached
    from dglop.runtime.expectations import Expectations

__all__ = ("GROUPS", "SERVICES", "WORKLOADS", "ChildWatcher", "ExpectationKey", "unsettled_roles", "wait_of")

SERVICES: Final = "/services"
"""Stands for the role where a Service is meant; no replica type has a slash."""

GROUPS: Final = "/podgroups"
"""Stands for the role where a PodGroup is meant."""

WORKLOADS: Final = "/workloads"
"""Stands for the role where a Workload is meant."""

_NO_REPLICAS: Final = {"PodGroup": GROUPS, "Workload": WORKLOADS}

ExpectationKey = tuple[str, str]
"""The job's UID and the replica type in lower case; a job made anew waits for none of its predecessor's."""


class ChildWatcher:
    """An informer's handler that takes down what of the expected has come true."""

    def __init__(self, expectations: Expectations[ExpectationKey]) -> None:
        self._expectations = expectations

    def on_add(self, obj: Cached, is_initial: bool) -> None:  # noqa: ARG002
        self._seen(obj)

    def on_update(self, old: Cached, new: Cached) -> None:
        if old.uid != new.uid:
            self.on_delete(old, final_state_unknown=True)
        self._seen(new)

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:  # noqa: ARG002
        key = _key(obj)
        if key:
            self._expectations.deletion_observed(key, obj.uid)

    def _seen(self, obj: Cached) -> None:
        key = _key(obj)
        if key is None:
            return
        self._expectations.creation_observed(key, obj.name)
        if obj.is_deleting:
            self._expectations.deletion_observed(key, obj.uid)


def unsettled_roles(
    expectations: Expectations[ExpectationKey], uid: str, roles: Iterable[str]
) -> frozenset[str]:
    """The roles whose writes the cache does not show yet."""
    return frozenset(role for role in roles if not expectations.satisfied((uid, role)))


def wait_of(expectations: Expectations[ExpectationKey], uid: str, roles: Iterable[str]) -> float | None:
    """Seconds until the first of the roles is settled by itself, should the event never come."""
    waits = [expectations.expires_in((uid, role)) for role in roles]
    return min((each for each in waits if each is not None), default=None)


def _key(obj: Cached) -> ExpectationKey | None:
    uid = obj.controller_uid()
    if not uid:
        return None
    if obj.resource.kind in _NO_REPLICAS:
        return (uid, _NO_REPLICAS[obj.resource.kind])
    role = (obj.meta.labels or {}).get(LABEL_REPLICA_TYPE)
    return (uid, SERVICES if obj.resource == SERVICE or not role else role)

# SPDX-License-Identifier: Apache-2.0
"""Changes of a running job's runPolicy, and what the API server says of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import InvalidError

if TYPE_CHECKING:
    from dglop.runtime.client import Client

__all__ = ("CHANGES", "try_change")

QUEUE = "queue cannot be changed"
MANAGED = "managedBy cannot be changed"
DEADLINE = "can only be raised or taken away"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"
Policy = dict[str, Any] | None

CHANGES: dict[str, tuple[Policy, list[tuple[Policy, str]]]] = {
    "a queue is taken away with its policy": (
        {"schedulingPolicy": {"queue": "a"}},
        [({"schedulingPolicy": None}, QUEUE), ({"schedulingPolicy": {"queue": None}}, QUEUE)],
    ),
    "a queue is changed": (
        {"schedulingPolicy": {"queue": "a"}},
        [({"schedulingPolicy": {"queue": "b"}}, QUEUE), ({"schedulingPolicy": {"minAvailable": 1}}, "")],
    ),
    "a queue comes with a policy that was not there": (
        {},
        [({"schedulingPolicy": {"minAvailable": 1}}, ""), ({"schedulingPolicy": {"queue": "b"}}, QUEUE)],
    ),
    "a queue goes with the runPolicy": ({"schedulingPolicy": {"queue": "a"}}, [(None, QUEUE)]),
    "a manager comes by way of no runPolicy": (
        {"backoffLimit": 1},
        [(None, ""), ({"managedBy": MULTIKUEUE}, MANAGED)],
    ),
    "a manager goes with the runPolicy": ({"managedBy": MULTIKUEUE}, [(None, MANAGED)]),
    "a deadline is lowered": (
        {"activeDeadlineSeconds": 100},
        [
            ({"activeDeadlineSeconds": 10}, DEADLINE),
            ({"activeDeadlineSeconds": 200}, ""),
            ({"activeDeadlineSeconds": 100}, DEADLINE),
            ({"activeDeadlineSeconds": None}, ""),
            ({"activeDeadlineSeconds": 1000}, DEADLINE),
        ],
    ),
    "a deadline is lowered under suspension": (
        {"activeDeadlineSeconds": 100, "suspend": True},
        [({"activeDeadlineSeconds": 10}, ""), ({"activeDeadlineSeconds": 5, "suspend": False}, "")],
    ),
    "what is followed at any time is changed": (
        {"ttlSecondsAfterFinished": 10, "backoffLimit": 1, "podForceDeleteAfterSeconds": 60},
        [({"ttlSecondsAfterFinished": 5, "backoffLimit": 0, "podForceDeleteAfterSeconds": None}, "")],
    ),
}


async def try_change(client: Client, kind: Any, spec: dict[str, Any], namespace: str, name: str) -> None:
    """Make a job and change its runPolicy as the case of this name says."""
    policy, changes = CHANGES[name]
    wire = {"apiVersion": kind.resource.api_version, "kind": kind.resource.kind}
    place = {"name": "g", "namespace": namespace}
    await client.create({**wire, "metadata": place, "spec": {**spec, "runPolicy": policy}})
    for change, refusal in changes:
        body = {"spec": {"runPolicy": change}}
        if refusal:
            with pytest.raises(InvalidError, match=refusal):
                await client.patch(kind, "g", namespace, body)
        else:
            await client.patch(kind, "g", namespace, body)

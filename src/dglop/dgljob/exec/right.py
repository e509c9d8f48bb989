# SPDX-License-Identifier: Apache-2.0
"""Whether the operator may give a Launcher the right to run commands in pods."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dglop.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.runtime.client import Client

__all__ = ("ExecRight",)

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_NEEDED: Final = (
    ("", "pods", "exec", "create"),
    ("", "pods", "exec", "get"),
    ("rbac.authorization.k8s.io", "roles", "", "create"),
    ("rbac.authorization.k8s.io", "rolebindings", "", "create"),
)


@dataclass(slots=True)
class ExecRight:
    """
    Whether the operator holds what config/components/exec gives it; no until `load` has asked.

    Attributes
    ----------
        namespaces: where jobs are; none is everywhere.
        is_held: the answer.
    """

    namespaces: Sequence[str] = ()
    is_held: bool = False

    async def load(self, client: Client) -> None:
        """Ask the API server. Raises ApiError."""
        for namespace in self.namespaces or ("",):
            for group, resource, subresource, verb in _NEEDED:
                attributes = {
                    "namespace": namespace,
                    "group": group,
                    "resource": resource,
                    "subresource": subresource,
                    "verb": verb,
                }
                if not await _is_allowed(client, attributes):
                    self.is_held = False
                    return
        self.is_held = True


async def _is_allowed(client: Client, attributes: dict[str, str]) -> bool:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    try:
        answer = await client.raw("POST", _REVIEWS, body=json.dumps(review).encode())
    except NotFoundError:
        return False  # a server that knows no rights, as in tests
    return (json.loads(answer).get("status") or {}).get("allowed") is True

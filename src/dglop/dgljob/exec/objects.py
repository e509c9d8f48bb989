# SPDX-License-Identifier: Apache-2.0
"""Objects of a job with launchMode Exec: the Launcher's account and its rights, the attempt's host files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dglop.common.constants import POD
from dglop.common.names import pod_name
from dglop.dgljob.enums import Role
from dglop.dgljob.exec.hostfiles import config_data
from dglop.dgljob.exec.names import account_name, config_name
from dglop.dgljob.shape import Shape
from dglop.runtime.api import Rule, role_binding_manifest, role_manifest

if TYPE_CHECKING:
    from dglop.common.observed import Observed
    from dglop.dgljob.api import DGLJob

__all__ = ("EXEC_RULES", "account_objects", "config_objects")

_RBAC: Final = "rbac.authorization.k8s.io"

EXEC_RULES: Final = (
    Rule(("",), ("configmaps", "serviceaccounts"), ("create", "get")),
    Rule((_RBAC,), ("roles", "rolebindings"), ("create", "get")),
    # nobody can give a right that he does not have: over WebSockets exec is a get as well
    Rule.of(POD, "create", "get", subresource="exec"),
)
"""What the operator needs for launchMode Exec, from config/components/exec; `get` of pods it has anyway."""


def account_objects(job: DGLJob) -> list[dict[str, Any]]:
    """The Launcher's account, which may run commands in the job's own Workers and do nothing else.

    None where the Launcher's template names an account of its own: its rights are the user's to give.
    """
    shape = Shape.of(job)
    if not shape.execs or has_own_account(job):
        return []
    name = account_name(job, shape.workers)
    workers = [pod_name(job.name, Role.WORKER, index) for index in range(shape.workers)]
    rules = (
        Rule.of(POD, "get", names=workers),
        Rule.of(POD, "create", "get", subresource="exec", names=workers),
    )
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
    return [
        account,
        role_manifest(name, rules, job.namespace),
        role_binding_manifest(name, name, name, job.namespace, job.namespace),
    ]


def has_own_account(job: DGLJob) -> bool:
    """Whether the Launcher's template names a service account."""
    template: Any = job.spec.template_of(Role.LAUNCHER) or {}
    spec = template.get("spec") or {}
    return bool(spec.get("serviceAccountName") or spec.get("serviceAccount"))


def config_objects(job: DGLJob, observed: Observed) -> list[dict[str, Any]]:
    """The ConfigMap of the present attempt, once it can be complete; it is never changed after that."""
    shape = Shape.of(job)
    data = config_data(job, observed, shape) if shape.execs else None
    if data is None:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": config_name(job, job.status.attempt)},
            "immutable": True,
            "data": data,
        }
    ]

# SPDX-License-Identifier: Apache-2.0
"""What the operator may do, and no more; the manifests in config/ are generated from this."""

from __future__ import annotations

from typing import Final

from dglop.common.key import KEY_RULES
from dglop.common.rbac import job_rules
from dglop.dgljob.api import DGLJob
from dglop.runtime.api import Rule

__all__ = ("LEASE", "MANAGER_RULES", "OBJECT_RULES", "OWN_RULES")

LEASE: Final = "dglop"

OBJECT_RULES: Final = (
    # Secrets are made, never read: their names carry the job's UID
    Rule(("",), ("secrets",), ("create",)),
    Rule(("",), ("persistentvolumeclaims",), ("create", "get")),
    Rule(("networking.k8s.io",), ("networkpolicies",), ("create", "get")),
)
"""For what a job has besides pods and Services."""

MANAGER_RULES: Final = (*job_rules(DGLJob.resource), *OBJECT_RULES)
"""Where jobs are: in the whole cluster, or in the one namespace."""

OWN_RULES: Final = (
    *KEY_RULES,
    Rule(("coordination.k8s.io",), ("leases",), ("create",)),
    Rule(("coordination.k8s.io",), ("leases",), ("get", "patch"), names=(LEASE,)),
)
"""In the operator's own namespace: its key and its lease."""

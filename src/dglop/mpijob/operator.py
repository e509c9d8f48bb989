# SPDX-License-Identifier: Apache-2.0
"""MPIJobs in a Manager, and what that needs of the API server."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from dglop.common.key import OperatorKey
from dglop.common.rbac import job_rules
from dglop.common.reconciler import JobReconciler
from dglop.common.ssh import require_cryptography
from dglop.mpijob.api import MPIJob
from dglop.mpijob.kind import MPIJobKind
from dglop.mpijob.options import MPIOptions
from dglop.runtime.api import Rule

if TYPE_CHECKING:
    from dglop.runtime.manager import Manager

__all__ = ("RULES", "add_mpijobs")

RULES: Final = (
    *job_rules(MPIJob.resource),
    # Secrets are made, never read: their names carry the job's UID
    Rule(("",), ("secrets",), ("create",)),
    Rule(("",), ("configmaps",), ("create", "get")),
)
_RECONCILE: Final = timedelta(seconds=120)
_KEY_BYTES: Final = 32


def add_mpijobs(
    manager: Manager, *, concurrency: int, delivery_image: str, cluster_domain: str, home: str
) -> None:
    """Have the Manager run MPIJobs; *home* is the namespace of the operator's key.

    Raises ConfigError where the library that makes ssh keys is not installed.
    """
    require_cryptography()
    key = OperatorKey(home, lambda: secrets.token_bytes(_KEY_BYTES))
    manager.on_start(key.load)
    kind = MPIJobKind(MPIOptions(key.seed, delivery_image, cluster_domain))
    manager.controller(MPIJob, JobReconciler(kind), concurrency=concurrency, reconcile_timeout=_RECONCILE)

# SPDX-License-Identifier: Apache-2.0
"""MPIJobs in a Manager, and what that needs of the API server."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from dglop.common.key import OperatorKey
from dglop.common.rbac import job_rules
from dglop.common.reconciler import JobReconciler
from dglop.common.ssh import require_cryptography
from dglop.mpijob.api import MPIJob
from dglop.mpijob.kind import MPIJobKind
from dglop.mpijob.objects import OBJECT_RULES
from dglop.mpijob.options import MPIOptions

if TYPE_CHECKING:
    from dglop.common.settings import JobSettings
    from dglop.runtime.manager import Manager

__all__ = ("RULES", "add_mpijobs")

RULES: Final = (*job_rules(MPIJob.resource), *OBJECT_RULES)
_KEY_BYTES: Final = 32


def add_mpijobs(manager: Manager, settings: JobSettings, *, cluster_domain: str) -> None:
    """Have the Manager run MPIJobs, whose pods look for each other in the DNS of *cluster_domain*.

    Raises ConfigError where the library that makes ssh keys is not installed.
    """
    require_cryptography()
    key = OperatorKey(settings.leader_election_namespace, lambda: secrets.token_bytes(_KEY_BYTES))
    manager.on_start(key.load)
    options = MPIOptions(key.seed, settings.delivery_image, cluster_domain)
    manager.controller(MPIJob, JobReconciler(MPIJobKind(options)))

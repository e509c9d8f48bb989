# SPDX-License-Identifier: Apache-2.0
"""PyTorchJobs in a Manager, and what that needs of the API server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.common.rbac import job_rules
from dglop.common.reconciler import JobReconciler
from dglop.pytorchjob.api import PyTorchJob
from dglop.pytorchjob.kind import PyTorchJobKind

if TYPE_CHECKING:
    from dglop.runtime.manager import Manager

__all__ = ("RULES", "add_pytorchjobs")

RULES: Final = job_rules(PyTorchJob.resource)


def add_pytorchjobs(manager: Manager) -> None:
    """Have the Manager run PyTorchJobs."""
    manager.controller(PyTorchJob, JobReconciler(PyTorchJobKind()))

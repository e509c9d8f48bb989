# SPDX-License-Identifier: Apache-2.0
"""The base job controller: everything that job kinds have in common; it knows no kind."""

from __future__ import annotations

from dglop.common.actions import CreatePod, DeletePod, JobEvent, Plan
from dglop.common.env import default_env, main_of, set_env
from dglop.common.failurerules import FailureAction, FailureRule
from dglop.common.gang import GangScheduler, SchedulerPlugins, Volcano, gang_scheduler
from dglop.common.kind import Gate, JobKind, RestartScope, StatusExtra
from dglop.common.observed import Observed
from dglop.common.plan import plan
from dglop.common.reconciler import JobReconciler
from dglop.common.replica import Replica
from dglop.common.services import replica_services
from dglop.common.settings import JobSettings
from dglop.common.state import StatedJobStatus
from dglop.common.types import (
    CleanPodPolicy,
    JobSpec,
    JobStatus,
    LastFailure,
    ReplicaSpec,
    ReplicaStatus,
    RestartPolicy,
    RunPolicy,
    SchedulingPolicy,
)
from dglop.common.views import PodView

__all__ = (
    "CleanPodPolicy",
    "CreatePod",
    "DeletePod",
    "FailureAction",
    "FailureRule",
    "GangScheduler",
    "Gate",
    "JobEvent",
    "JobKind",
    "JobReconciler",
    "JobSettings",
    "JobSpec",
    "JobStatus",
    "LastFailure",
    "Observed",
    "Plan",
    "PodView",
    "Replica",
    "ReplicaSpec",
    "ReplicaStatus",
    "RestartPolicy",
    "RestartScope",
    "RunPolicy",
    "SchedulerPlugins",
    "SchedulingPolicy",
    "StatedJobStatus",
    "StatusExtra",
    "Volcano",
    "default_env",
    "gang_scheduler",
    "main_of",
    "plan",
    "replica_services",
    "set_env",
)

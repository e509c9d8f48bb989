# SPDX-License-Identifier: Apache-2.0
"""Reasons of conditions and events, and the names of the conditions."""

from __future__ import annotations

from enum import StrEnum

__all__ = ("ConditionType", "Reason", "is_own", "kind_reason")


class ConditionType(StrEnum):
    """The conditions that every job has; a kind may add its own."""

    CREATED = "Created"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    SUSPENDED = "Suspended"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


class Reason(StrEnum):
    """Why a condition or an event is there; the first group is written with the kind's name before it."""

    CREATED = "Created"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    RESTARTED = "Restarted"
    SUSPENDED = "Suspended"
    RESUMED = "Resumed"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"

    INVALID_SPEC = "InvalidSpec"
    BACKOFF_LIMIT_EXCEEDED = "BackoffLimitExceeded"
    DISRUPTION_LIMIT_EXCEEDED = "DisruptionLimitExceeded"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    START_DEADLINE_EXCEEDED = "StartDeadlineExceeded"
    NO_PROGRESS = "NoProgress"

    UNSCHEDULABLE = "Unschedulable"
    NOT_SCHEDULED = "NotScheduled"
    NODE_SILENT = "NodeSilent"
    WAITING = "Waiting"

    SUCCESSFUL_CREATE_POD = "SuccessfulCreatePod"
    FAILED_CREATE_POD = "FailedCreatePod"
    SUCCESSFUL_DELETE_POD = "SuccessfulDeletePod"
    FORCED_DELETE_POD = "ForcedDeletePod"
    RESOURCE_EXISTS = "ErrResourceExists"
    OBJECT_LOST = "ObjectLost"
    SPEC_CHANGE_IGNORED = "SpecChangeIgnored"
    TEMPLATE_FIELD_IGNORED = "TemplateFieldIgnored"
    POD_RESTART_POLICY = "SetPodTemplateRestartPolicy"
    SCHEDULING_POLICY_IGNORED = "SchedulingPolicyIgnored"
    POD_SCHEDULER_NAME = "SetPodTemplateSchedulerName"

    FAILED_CREATE_POD_GROUP = "FailedCreatePodGroup"
    POD_GROUP_PENDING = "PodGroupPending"


_WITH_KIND = frozenset(
    {
        Reason.CREATED,
        Reason.RUNNING,
        Reason.RESTARTING,
        Reason.RESTARTED,
        Reason.SUSPENDED,
        Reason.RESUMED,
        Reason.SUCCEEDED,
        Reason.FAILED,
    }
)


def kind_reason(kind: str, reason: Reason) -> str:
    """The reason as Kubeflow writes it: DGLJobCreated, but InvalidSpec."""
    return f"{kind}{reason}" if reason in _WITH_KIND else str(reason)


def is_own(kind: str, reason: str) -> bool:
    """Whether the reason is a step of the job's own, and no trouble that was copied up from its pods."""
    return any(reason == kind_reason(kind, each) for each in _WITH_KIND)

# SPDX-License-Identifier: Apache-2.0
"""How a job kind plugs in: two members that it must have, and hooks that it may have."""

# ruff: noqa: ARG002 - a hook's usual answer does not look at its arguments

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from dglop.common.gang.group import Group
from dglop.common.replica import JobT, Replica
from dglop.common.state import StatedJobStatus, state_of
from dglop.common.types import CleanPodPolicy, ReplicaSpec, RestartPolicy

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from dglop.common.actions import JobEvent
    from dglop.common.failurerules import FailureRule
    from dglop.common.observed import Observed
    from dglop.common.types import LastFailure
    from dglop.runtime.api.rawpod import RawPod

__all__ = ("Gate", "JobKind", "RestartScope", "StatusExtra")


class Gate(StrEnum):
    """Whether the pods of a replica type may exist now."""

    OPEN = "Open"
    """Missing ones are created, and a lost one is a failure."""
    HOLD = "Hold"
    """None is created; those that are there stay, and a lost one is no failure."""
    CLOSED = "Closed"
    """None is created, and those that are there are deleted."""


class RestartScope(StrEnum):
    """What is made anew when one replica fails."""

    REPLICA = "Replica"
    JOB = "Job"


@dataclass(frozen=True, slots=True)
class StatusExtra:
    """What `status_extra` asks for besides its changes; `lagging` wants another look at once."""

    events: tuple[JobEvent, ...] = ()
    lagging: bool = False


class JobKind(ABC, Generic[JobT]):
    """
    A job kind on the base controller.

    `replicas` and `configure` must be written; every other method is a hook with the usual answer.
    All are pure: no I/O, no clock, and nothing kept between calls. A job that a hook is given is a copy
    with `default` applied. Hooks that decide (`phases`, `restart_exempt`, `success`) see the status as it
    was read, so that they rest on what is written and survive a crash; `status_extra` sees the new one.

    Attributes
    ----------
        leader: the role that decides success and that the others meet at; None: all roles.
        restart_policy: of replicas that state none.
        clean_pod_policy: of jobs that state none.
        main: the name of the container that decides, which every template must have; "" for
            what `main_container` says.
        controller_name: the value of the operator-name label; by default `<kind>-controller`.
        managed_by: the value of runPolicy.managedBy that means this operator, besides none.
    """

    leader: ClassVar[str | None] = None
    main: ClassVar[str] = ""
    restart_policy: ClassVar[RestartPolicy] = RestartPolicy.ON_FAILURE
    clean_pod_policy: ClassVar[CleanPodPolicy] = CleanPodPolicy.NONE
    controller_name: ClassVar[str] = ""
    managed_by: ClassVar[str] = "kubeflow.org/training-operator"

    @abstractmethod
    def replicas(self, job: JobT) -> Mapping[str, ReplicaSpec]:
        """The replica types of the job, in the order in which they are created."""

    @abstractmethod
    def configure(self, pod: RawPod, replica: Replica[JobT]) -> None:
        """Change the pod made from the template; names, labels, DNS and restartPolicy are the base's."""

    def default(self, job: JobT) -> None:
        """Fill in what the CRD's defaults would, in place; the job is a copy."""

    def validate(self, job: JobT) -> Sequence[str]:
        """What is wrong with the spec, in sentences with the fix; asked before the job starts.

        Any answer ends the job as Failed with reason InvalidSpec, and no pod of it is made. It is asked only
        where the base finds nothing wrong with the form of the templates, so that a RawPod can read them.
        """
        return ()

    def phases(self, job: JobT, observed: Observed) -> Mapping[str, Gate]:
        """Which replica types may exist now; Open for those not named."""
        return {}

    def limits(self, job: JobT) -> Mapping[str, int]:
        """How many replicas of a role may exist now, from index 0 on; all of those that are not named.

        For a role whose first pods prepare what the others need. While a role is limited, its pods are
        scheduled each by itself, outside of any group.
        """
        return {}

    def outgrown(self, job: JobT) -> Collection[str]:
        """UIDs of pods of the present attempt that have done what they were for, and are in others' places.

        They are deleted, and count nowhere; the pods that take their places are made when they are gone.
        """
        return ()

    def serving(self, job: JobT) -> Collection[str]:
        """Roles whose pods serve the others until the job ends.

        They never count as finished, and at the job's end they are deleted whatever cleanPodPolicy says.
        """
        return ()

    def services(self, job: JobT) -> Sequence[dict[str, Any]] | None:
        """Services of the job; None: the one headless Service named as the job.

        A Service named as a pod is deleted with that pod.
        """
        return None

    def extra_objects(self, job: JobT) -> Sequence[dict[str, Any]]:
        """Objects that exist before the first pod: Secrets, claims, policies.

        They are created once. Labels and the owner reference are added, unless `metadata.ownerReferences`
        is there already (an empty list: the object outlives the job).
        """
        return ()

    def pod_groups(self, job: JobT) -> Sequence[Group]:
        """Which replica types run at the same time, for gang scheduling; all of them by default.

        A type whose pods come only when others have ended, or run, must be in a group of its own or late in
        theirs: a scheduler that waits for it would wait for ever. The names are those of `replicas`.
        """
        return (Group(tuple(self.replicas(job))),)

    def success(self, job: JobT, observed: Observed, completed: Mapping[str, Collection[int]]) -> bool:
        """Whether the job has succeeded, from the indexes that have finished their work."""
        counts = {role: spec.replicas for role, spec in self.replicas(job).items()}
        deciding = self.deciding_roles(job)
        wanted = sum(counts.get(role, 0) for role in deciding)
        done = sum(len(completed.get(role, ())) for role in deciding)
        return 0 < wanted <= done

    def deciding_roles(self, job: JobT) -> Sequence[str]:
        """Roles whose readiness is Running and whose success is the job's."""
        roles = list(self.replicas(job))
        if self.leader in roles:
            return [str(self.leader)]
        serving = set(self.serving(job))
        return [role for role in roles if role not in serving]

    def restart_scope(self, job: JobT) -> RestartScope:
        """Whether one failure restarts the replica or the whole gang."""
        return RestartScope.REPLICA

    def restart_exempt(self, job: JobT, observed: Observed) -> Collection[str]:
        """Roles that outlive a restart of the gang now, and whose loss counts nowhere."""
        return ()

    def main_container(self, job: JobT, role: str, pod: RawPod) -> str | None:
        """The container that decides: `main`; None: the default-container annotation's, else the first."""
        return self.main or None

    def failure_rules(self, job: JobT) -> Sequence[FailureRule]:
        """Rules of the job for what follows from failures: the first that matches, before restartPolicy."""
        return ()

    def last_progress(self, job: JobT, observed: Observed) -> datetime | None:
        """The latest sign of progress that the kind knows of, for progressDeadlineSeconds."""
        return None

    def failure_reason(self, job: JobT, failure: LastFailure) -> str | None:
        """The reason of the Failed condition for this failure; None: `<Kind>Failed`."""
        return None

    def status_extra(self, job: JobT, observed: Observed, now: datetime) -> StatusExtra | None:
        """Change the kind's own part of `job.status` in place, after the base has changed its part.

        Called in every plan: also when the job is suspended, restarting or over. A deadline of the kind's
        own, or a phase that lags behind, is asked for by `lagging`. A StatedJobStatus gets its state.
        """
        if isinstance(job.status, StatedJobStatus):
            job.status.state = state_of(job.status)
        return None

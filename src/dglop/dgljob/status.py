# SPDX-License-Identifier: Apache-2.0
"""The status of a DGLJob: the base's, and phase, partition, dispatch and trainer."""

from typing import Annotated, Self

from pydantic import Field

from dglop.common.types import JobStatus
from dglop.dgljob.enums import PartitionMode, PartitionState, Phase
from dglop.runtime.api import ListMap, MicroTime, Spec, Time

__all__ = ("DGLJobStatus", "DispatchStatus", "Metric", "PartitionStatus", "TrainerStatus")

NONE_YET = "–"  # noqa: RUF001 - what the column shows before there is anything to count


class PartitionStatus(Spec):
    """What became of the partition; once Succeeded it stays so while the parts can be had."""

    mode: PartitionMode | None = None
    state: PartitionState = PartitionState.PENDING
    total: int = 0
    """How many parts there must be."""
    ready: str = NONE_YET
    """How many parts are there, of how many: 2/2."""
    bytes: int | None = None
    """Size of all parts."""
    attempt: int | None = None
    """The attempt in which the parts were made."""
    start_time: Time | None = None
    completion_time: Time | None = None
    manifest_hash: str | None = Field(default=None, max_length=128)
    """Hash of the parts' manifest; Workers refuse parts of any other."""
    partitioner_uid: str | None = Field(default=None, alias="partitionerUID", max_length=64)
    """The pod that made the parts."""
    message: str | None = Field(default=None, max_length=1024)
    """Nodes, edges and edge cut, or why it failed."""

    @property
    def is_latched(self) -> bool:
        """Whether the parts are there to be fetched or mounted."""
        return self.state in (PartitionState.SUCCEEDED, PartitionState.REUSED, PartitionState.SKIPPED)


class DispatchStatus(Spec):
    """How many Workers have their part."""

    ready: int = 0
    total: int = 0


class Metric(Spec):
    """One figure of the training, as text."""

    name: str = Field(max_length=64)
    value: str = Field(max_length=64)


class TrainerStatus(Spec):
    """What the training last said of itself.

    The progress server writes it; at the end the reconciler does, where worker-0's result is not shown.
    """

    progress_percentage: int | None = Field(default=None, ge=0, le=100)
    """How much is done."""
    progress: str | None = Field(default=None, max_length=8)
    """The same for people: 70%."""
    estimated_remaining_seconds: int | None = Field(default=None, ge=0)
    """How long it will still take."""
    metrics: Annotated[list[Metric], ListMap("name")] = Field(default_factory=list, max_length=32)
    """Loss, accuracy and what else the trainer reports."""
    attempt: int | None = None
    """The attempt that reported."""
    report_time: MicroTime | None = None
    """When the trainer's pod said so, by its own clock; an earlier report does not replace this one."""
    last_updated_time: Time | None = None
    """When this was written."""


class DGLJobStatus(JobStatus):
    """How far the job is."""

    phase: Phase | None = None
    """How far the job is, in one word; one step a write, never back within an attempt."""
    phase_attempt: int | None = None
    """The attempt that the phase is about."""
    partition: PartitionStatus | None = None
    """What became of the partition."""
    dispatch: DispatchStatus | None = None
    """How many Workers have their part."""
    trainer: TrainerStatus | None = None
    """What the training last said of itself."""

    @property
    def is_latched(self) -> bool:
        return self.partition is not None and self.partition.is_latched

    def without_counts(self) -> Self:
        dispatch = self.dispatch and self.dispatch.model_copy(update={"ready": 0})
        return super().without_counts().model_copy(update={"dispatch": dispatch})

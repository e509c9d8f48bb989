# SPDX-License-Identifier: Apache-2.0
"""DGLJob, `kubeflow.org/v1alpha1`: distributed training of a graph network."""

from dglop.dgljob.spec import DGLJobSpec
from dglop.dgljob.status import DGLJobStatus
from dglop.runtime.api import CEL, Column, CustomResource

__all__ = ("DGLJob",)

_NAME = 49  # and "-partitioner-0" are the 63 characters of a DNS label
_COLUMNS = {
    "State": Column(".status.phase"),
    "Workers": Column(".status.replicaStatuses.Worker.ready"),
    "Parts": Column(".status.partition.ready"),
    "Restarts": Column(".status.restartCount", "integer"),
    "Progress": Column(".status.trainer.progress"),
    # why it does not run, or has failed, which need not come from a pod: an image, a wrong spec, a deadline
    "Reason": Column(".status.reason"),
    "Servers": Column(".status.replicaStatuses.Server.ready", priority=1),
    "Samplers": Column(".status.replicaStatuses.Sampler.ready", priority=1),
    "Trainers": Column(".status.replicaStatuses.Trainer.ready", priority=1),
    "Mode": Column(".spec.partitionMode", priority=1),
    "Attempt": Column(".status.attempt", "integer", priority=1),
    "Disruptions": Column(".status.disruptionCount", "integer", priority=1),
    # of the last restart, or of the end; a job that succeeded later keeps it
    "Last Failure": Column(".status.lastFailure.reason", priority=1),
    "Age": Column(".metadata.creationTimestamp", "date"),
}


class DGLJob(
    CustomResource[DGLJobSpec, DGLJobStatus],
    group="kubeflow.org",
    version="v1alpha1",
    short_names=("dglj",),
    categories=("all", "kubeflow"),
    columns=_COLUMNS,
    rules=(
        CEL(
            f"size(self.metadata.name) <= {_NAME}",
            f"the name is longer than {_NAME} characters; with -partitioner-0 it must fit into 63",
        ),
        CEL(
            "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            "the name must start with a letter and have only lower-case letters, digits and -",
        ),
    ),
):
    """Trains a graph network with DGL on several Workers: partition, dispatch, train."""

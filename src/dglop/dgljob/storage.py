# SPDX-License-Identifier: Apache-2.0
"""Parts of a DGLJob's spec: dataset, storage, output, dispatch, partition and network."""

from typing import Annotated

from pydantic import Field

from dglop.dgljob.enums import DispatchMode, NetworkPolicyMode, PartitionMethod, Placement, StorageType
from dglop.runtime.api import CEL, Raw, Spec

__all__ = (
    "Dataset",
    "Dispatch",
    "Network",
    "ObjectName",
    "Output",
    "Partition",
    "Retention",
    "SecretRef",
    "Storage",
)

IMMUTABLE = CEL("self == oldSelf", "cannot be changed after creation")
ABSOLUTE = r"^/[^\x00]*$"
RELATIVE = r"^([^/\x00].*)?$"

ObjectName = Annotated[str, Field(max_length=253)]
Retention = Annotated[str, Field(pattern="^(Delete|Retain)$")]


class SecretRef(Spec):
    """A Secret of the job's namespace."""

    name: ObjectName
    """Name of the Secret."""


class Dataset(Spec):
    """The graph that `dglrun partition` cuts where no Partitioner says a command of its own."""

    url: str | None = Field(default=None, max_length=2048, pattern=r"^(https?|s3|gs|hdfs|pvc|file)://.+")
    """Where the graph is; the image must be able to read it."""
    secret_ref: SecretRef | None = None
    """Secret whose keys the Partitioner gets as environment variables."""
    name: str | None = Field(default=None, max_length=253)
    """A data set that dglrun knows: digits, synthetic, synthetic-hetero. With a url: the graph's name."""
    format: str | None = Field(default=None, max_length=63)
    """Format of the data: dglrun knows dgl, csv, numpy, parquet and chunked, and goes by the name where
    nothing is said. A partition command of your own is told too."""
    nodes: int | None = Field(default=None, ge=1, le=1_000_000_000_000)
    """How many nodes there are: of a synthetic graph, or of a list of edges whose last nodes have none."""


class Storage(
    Spec,
    rules=(
        CEL(
            "self.type != 'PVC' || has(self.claimName) != has(self.claimTemplate)",
            "storage of type PVC needs exactly one of claimName and claimTemplate",
        ),
        CEL(
            "self.type == 'PVC' || !(has(self.claimName) || has(self.claimTemplate))",
            "claimName and claimTemplate need storage.type PVC",
        ),
        CEL(
            "(self.type == 'HostPath') == has(self.hostPath)",
            "storage of type HostPath needs hostPath, and no other type has it",
        ),
    ),
):
    """Where the parts of the graph live."""

    type: Annotated[StorageType, IMMUTABLE] = StorageType.EMPTY_DIR
    """EmptyDir: each Worker fetches its part from the Partitioner. PVC: all mount one claim. HostPath: all
    mount a folder that is the same on every node."""
    claim_name: str | None = Field(default=None, max_length=253)
    """An existing claim; ReadWriteMany, or ReadWriteOnce where all pods run on one node."""
    claim_template: Raw | None = None
    """Spec of a claim to be made as <job>-partitions."""
    host_path: str | None = Field(default=None, max_length=1024, pattern=ABSOLUTE)
    """A folder of the nodes; the operator must run with --allow-host-path."""
    existing: bool = False
    """The parts are there already; needs partitionMode Skip."""
    sub_path: str = Field(default="", max_length=1024, pattern=RELATIVE)
    """Folder in the volume."""
    mount_path: str = Field(default="/dgl_workspace/workload", max_length=1024, pattern=ABSOLUTE)
    """Where the parts are mounted; the Workers may only read them."""
    retention_policy: Retention = "Delete"
    """What becomes of a claim made from claimTemplate when the job is deleted: Delete or Retain."""


class Output(Spec):
    """Where trained files go."""

    claim_name: str = Field(default="", max_length=253)
    """An existing claim; none: an emptyDir, lost with its pod."""
    sub_path: str = Field(default="", max_length=1024, pattern=RELATIVE)
    """Folder in the claim."""


class Dispatch(Spec):
    """How the parts come to the Workers."""

    mode: DispatchMode | None = None
    """Volume or Pull; nil: Volume with a claim, else Pull."""
    retries: int = Field(default=5, ge=0, le=1000)
    """Tries in a row that may bring not one byte."""
    timeout_seconds: int = Field(default=3600, ge=1, le=604800)
    """How long a Worker tries to fetch its part, in seconds."""


class Partition(
    Spec,
    rules=(
        CEL(
            "(has(self.method) && self.method == 'given') == has(self.partIds)",
            "partition.method given needs partIds, and no other method has it",
        ),
    ),
):
    """How the graph is partitioned where no Partitioner says a command of its own, and what becomes of it."""

    method: PartitionMethod | None = None
    """SSP: metis (where nothing is said) or random. MSP: parallel (where nothing is said), random or given.
    SMP: any; ptscotch where nothing is said and the image has it, else parallel."""
    part_ids: str | None = Field(default=None, max_length=1024, pattern=ABSOLUTE)
    """A file in the pods that partition with the part of each node, or a folder with one for each type of
    node; for method given."""
    balance_ntypes: str | None = Field(default=None, min_length=1, max_length=253)
    """A feature of nodes, a mask or a small whole number: each part gets as many of each value. nil:
    train_mask where nodes have one. none: nothing is balanced, not even node types."""
    balance_edges: bool = True
    """Each part gets as many edges."""
    placement: Annotated[Placement, IMMUTABLE] = Placement.POD
    """Which pod partitions under SSP and SMP: one of its own, the Launcher's (in an init container), or that
    of worker-0 before it trains. The last two need storage that all pods mount."""
    processes: int | None = Field(default=None, ge=1, le=1000)
    """How many processes partition under SMP; as many as the CPU limit allows, at most one a part, where
    nothing is said."""
    retain_on_restart: bool = True
    """Keep the parts when the job restarts and they are still what the manifest says; else each attempt
    partitions anew."""


class Network(
    Spec,
    rules=(
        CEL(
            "self.masterPort < self.portBase || self.masterPort >= self.portBase + self.portCount",
            "network.masterPort lies within the range of the servers' ports",
        ),
    ),
):
    """Ports, names and rules of the job's network."""

    port_base: int = Field(default=30050, ge=1024, le=65000)
    """Port of the first server of a Worker; server k listens on portBase + k."""
    port_count: int = Field(default=20, ge=1, le=100)
    """How many ports are kept for a Worker's servers; the container declares those that one listens on."""
    master_port: int = Field(default=29500, ge=1024, le=65535)
    """Port where torch's process group meets."""
    publish_not_ready_addresses: bool = True
    """Whether the headless Service names pods before they are ready; the Workers meet before that."""
    policy: NetworkPolicyMode = NetworkPolicyMode.NONE
    """JobOnly: a NetworkPolicy lets only the job's own pods in."""

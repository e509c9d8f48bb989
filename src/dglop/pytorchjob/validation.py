# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a PyTorchJob's spec, in sentences that say what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.pytorchjob.api import ELASTIC, Role
from dglop.pytorchjob.env import PORT_NAME
from dglop.runtime.api import RawPod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.common.types import ReplicaSpec
    from dglop.pytorchjob.api import PyTorchJob

__all__ = ("problems",)


def problems(job: PyTorchJob) -> list[str]:
    """Every mistake that can be seen in the spec alone; the CRD's own rules say most of it earlier."""
    return list(_problems(job))


def _problems(job: PyTorchJob) -> Iterator[str]:
    spec = job.spec
    if spec.elastic_policy is not None:
        yield ELASTIC
    unknown = sorted(set(spec.pytorch_replica_specs) - set(Role))
    if unknown:
        yield f"pytorchReplicaSpecs has {', '.join(unknown)}; it may have only {', '.join(Role)}"
    master = spec.pytorch_replica_specs.get(Role.MASTER)
    if master is not None and master.replicas != 1:
        yield f"pytorchReplicaSpecs.Master.replicas is {master.replicas}; it must be 1"
    if not spec.total:
        yield "pytorchReplicaSpecs has no replicas; it needs a Master, Workers, or both"
    for role, each in spec.pytorch_replica_specs.items():
        if role in unknown:
            continue  # the base has looked at the templates of those that run
        where = f"pytorchReplicaSpecs.{role}.template"
        yield from _port_problems(each, where)


def _port_problems(spec: ReplicaSpec, where: str) -> Iterator[str]:
    pod = RawPod(spec.template)
    for port in (port for each in pod.containers for port in each.data.get("ports") or ()):
        number = port.get("containerPort")
        if port.get("name") == PORT_NAME and not (isinstance(number, int) and 0 < number < 65536):
            yield f"{where}: the containerPort of {PORT_NAME} must be a port's number, not {number!r}"

# SPDX-License-Identifier: Apache-2.0
"""Objects of an MPIJob besides its pods: the Secret of its ssh keys, and the ConfigMap of its hosts."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from dglop.common.hostfile import discover_script, hostfile
from dglop.common.names import pod_host
from dglop.common.ssh import ssh_secret
from dglop.mpijob.api import Role
from dglop.runtime.api import Rule

if TYPE_CHECKING:
    from dglop.mpijob.api import MPIJob

__all__ = ("CONFIG_PATH", "DISCOVER", "HOSTFILE", "OBJECT_RULES", "config_name", "job_objects")

CONFIG_PATH: Final = "/etc/mpi"
HOSTFILE: Final = "hostfile"
DISCOVER: Final = "discover_hosts.sh"

OBJECT_RULES: Final = (
    # Secrets are made, never read: their names carry the job's UID
    Rule(("",), ("secrets",), ("create",)),
    Rule(("",), ("configmaps",), ("create", "get")),
)
"""For what a job has besides pods and Services."""


def job_objects(job: MPIJob, seed: bytes) -> list[dict[str, Any]]:
    """What must exist before the first pod."""
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": config_name(job)},
        "immutable": True,
        "data": _data(job),
    }
    return [ssh_secret(job.name, job.uid, seed), config]


def config_name(job: MPIJob) -> str:
    """The ConfigMap's name; it tells its content, since a job that is resumed may have another size."""
    digest = hashlib.sha256(json.dumps(_data(job), sort_keys=True).encode()).hexdigest()
    return f"{job.name}-config-{digest[:8]}"


def _data(job: MPIJob) -> dict[str, str]:
    spec = job.spec
    roles = [(Role.WORKER, index) for index in range(spec.workers)]
    if spec.run_launcher_as_worker:
        roles.insert(0, (Role.LAUNCHER, 0))
    hosts = [pod_host(job.name, job.namespace, role, index) for role, index in roles]
    return {
        HOSTFILE: hostfile(hosts, spec.slots_per_worker, spec.mpi_implementation),
        DISCOVER: discover_script(f"{CONFIG_PATH}/{HOSTFILE}"),
    }

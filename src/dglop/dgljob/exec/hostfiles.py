# SPDX-License-Identifier: Apache-2.0
"""The host files of an attempt, in the form that each reader of them knows, and the scripts beside them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from dglop.common.hostfile import MPIImplementation, hostfile
from dglop.dgljob.enums import Role
from dglop.dgljob.exec.names import KUBECTL_KEY
from dglop.dgljob.exec.seen import machine_of, machines
from dglop.dgljob.pods.main import main_name
from dglop.dgljob.pods.names import ZIPAPP
from dglop.dglrun import contract
from dglop.runtime.api import RawPod, parse_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.common.observed import Observed
    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.exec.seen import Machine
    from dglop.dgljob.shape import Shape

__all__ = ("config_data", "gpus_of", "kubectl_script", "kubexec_script", "worker_container")


def config_data(job: DGLJob, observed: Observed, shape: Shape) -> dict[str, str] | None:
    """What the ConfigMap of the present attempt holds; None until all Workers have their addresses."""
    workers = machines(observed, job.status.attempt, shape.workers)
    if workers is None:
        return None
    spec = job.spec
    port, servers, slots = spec.network.port_base, spec.num_servers, spec.slots_per_worker
    gpus = gpus_of(job)
    partitioner = machine_of(observed.pod(Role.PARTITIONER))
    return {
        contract.HOSTFILE_NAME: _lines(workers, f"{{ip}} {port} {servers} {{name}} {gpus}"),
        contract.IP_CONFIG_NAME: _lines(workers, f"{{ip}} {port}"),
        contract.HOSTFILE_DGLKE_NAME: _lines(workers, f"{{ip}} {port} {servers}"),
        contract.HOSTFILE_UPSTREAM_NAME: _lines(workers, f"{{ip}} {port} {{name}} slots={slots}"),
        contract.HOSTFILE_OPENMPI_NAME: hostfile(
            [each.name for each in workers], slots, MPIImplementation.OPEN_MPI
        ),
        contract.PARTFILE_NAME: _lines([partitioner] if partitioner else [], f"{{ip}} {port} {{name}}"),
        contract.KUBEXEC_NAME: kubexec_script(worker_container(job)),
        KUBECTL_KEY: kubectl_script(spec.python),
    }


def kubexec_script(container: str) -> str:
    """The script that runs a command in a Worker: `kubexec.sh POD COMMAND...`, as an rsh agent is called."""
    return (
        "#!/bin/sh\n"
        "# kubexec.sh POD COMMAND...: run a command in a Worker of this job, and end as it does\n"
        'POD_NAME="$1"\n'
        "shift\n"
        f'exec {contract.KUBECTL} exec "$POD_NAME" -c {shlex.quote(container)} -- /bin/sh -c "$*"\n'
    )


def kubectl_script(python: str) -> str:
    """The program that stands in for kubectl: the exec and cp of dglrun."""
    return f'#!/bin/sh\nexec {shlex.quote(python)} {ZIPAPP} kubectl "$@"\n'


def gpus_of(job: DGLJob) -> int:
    """GPUs that each Worker has, by the limits of its main container."""
    main = RawPod(dict(job.spec.template_of(Role.WORKER) or {})).container(worker_container(job) or 0)
    limits: dict[str, Any] = (main.data.get("resources") or {}).get("limits") or {}
    return sum(int(parse_quantity(str(count))) for name, count in limits.items() if name.endswith("/gpu"))


def worker_container(job: DGLJob) -> str:
    """The main container of the Workers."""
    return main_name(job.spec.main_container, RawPod(dict(job.spec.template_of(Role.WORKER) or {})))


def _lines(pods: Sequence[Machine], form: str) -> str:
    return "".join(f"{form.format(ip=each.ip, name=each.name)}\n" for each in pods)

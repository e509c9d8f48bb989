# SPDX-License-Identifier: Apache-2.0
"""The pods of an MPIJob from their templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dglop.common.delivery import delivery_container
from dglop.common.hostfile import MPIImplementation
from dglop.common.ssh import mount_ssh, ssh_secret_name
from dglop.dglrun import contract
from dglop.mpijob.api import Role
from dglop.mpijob.objects import CONFIG_PATH, DISCOVER, HOSTFILE, config_name
from dglop.runtime.api.rawvalues import set_default

if TYPE_CHECKING:
    from dglop.common.replica import Replica
    from dglop.mpijob.api import MPIJob, MPIJobSpec
    from dglop.mpijob.options import MPIOptions
    from dglop.runtime.api import RawContainer, RawPod

__all__ = ("AWAIT", "build")

AWAIT: Final = "dglop-await"
CONFIG: Final = "dglop-mpi-config"
_SSHD: Final = ["/usr/sbin/sshd", "-De"]
_ZIPAPP: Final = f"/opt/dglop/{contract.ZIPAPP_NAME}"
_SSH_ARGS: Final = "-o ConnectionAttempts=10"


def build(pod: RawPod, replica: Replica[MPIJob], options: MPIOptions) -> None:
    """Make the pod of one replica out of its template, in place."""
    job = replica.job
    main = pod.container(replica.main or 0)
    main.data.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")
    mount_ssh(pod, main, secret=ssh_secret_name(job.name, job.uid), path=job.spec.ssh_auth_mount_path)
    if replica.role == Role.LAUNCHER:
        _launcher(pod, main, job, options)
    else:
        _worker(pod, main, job, options)
    if pod.spec.get("hostNetwork") and not pod.spec.get("dnsPolicy"):
        pod.spec["dnsPolicy"] = "ClusterFirstWithHostNet"


def _launcher(pod: RawPod, main: RawContainer, job: MPIJob, options: MPIOptions) -> None:
    for name, value in _launcher_env(job.spec).items():
        main.env.set(name, value)
    modes = [(HOSTFILE, 0o444), (DISCOVER, 0o555)]
    items = [{"key": key, "path": key, "mode": mode} for key, mode in modes]
    pod.volume(CONFIG, {"configMap": {"name": config_name(job), "items": items}})
    main.mount(CONFIG, CONFIG_PATH, read_only=True)
    if job.spec.workers:
        # A Worker that is ready has its name in DNS a little later, and ssh asks only once.
        command = ["python3", _ZIPAPP, "hosts", f"{CONFIG_PATH}/{HOSTFILE}"]
        mounts = [{"name": CONFIG, "mountPath": CONFIG_PATH, "readOnly": True}]
        pod.add_init_container(delivery_container(AWAIT, options.delivery_image, command, mounts), first=True)


def _worker(pod: RawPod, main: RawContainer, job: MPIJob, options: MPIOptions) -> None:
    main.env.set("K_MPI_JOB_ROLE", "worker")
    if not main.command and not main.args:
        main.command = list(_SSHD)
    # The processes of Intel MPI and MPICH find the Launcher by its bare host name.
    dns: dict[str, Any] = set_default(pod.spec, "dnsConfig", dict, "spec.dnsConfig")
    searches: list[Any] = set_default(dns, "searches", list, "spec.dnsConfig.searches")
    searches.append(f"{job.name}.{job.namespace}.svc.{options.cluster_domain}")


def _launcher_env(spec: MPIJobSpec) -> dict[str, str]:
    env: dict[str, Any] = {"K_MPI_JOB_ROLE": "launcher"}
    path, slots = f"{CONFIG_PATH}/{HOSTFILE}", str(spec.slots_per_worker)
    if spec.mpi_implementation is MPIImplementation.OPEN_MPI:
        env |= {
            "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
            "OMPI_MCA_orte_default_hostfile": path,
            "OMPI_MCA_plm_rsh_args": _SSH_ARGS,
            "OMPI_MCA_orte_set_default_slots": slots,
        }
    elif spec.mpi_implementation is MPIImplementation.INTEL:
        env |= {
            "I_MPI_HYDRA_HOST_FILE": path,
            "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": _SSH_ARGS,
            "I_MPI_PERHOST": slots,
        }
    else:
        env |= {"HYDRA_HOST_FILE": path, "HYDRA_LAUNCH_EXTRA_ARGS": _SSH_ARGS}
    if not spec.run_launcher_as_worker:
        # A Launcher that computes nothing must not take the node's GPUs for its own.
        env |= {"NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""}
    return env

# SPDX-License-Identifier: Apache-2.0
"""The pods of a job with launchMode Exec: Workers that wait, and a Launcher that begins when all is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dglop.common.delivery import delivery_container
from dglop.dgljob.enums import DispatchMode
from dglop.dgljob.exec.env import exec_env
from dglop.dgljob.exec.hostfiles import worker_container
from dglop.dgljob.exec.names import (
    CONFIG_DIR,
    CONFIG_VOLUME,
    CONNECT,
    DISPATCH,
    KUBECTL_KEY,
    KUBECTL_VOLUME,
    account_name,
    config_name,
)
from dglop.dgljob.exec.objects import has_own_account
from dglop.dgljob.pods.delivery import DELIVERED, add_delivery
from dglop.dgljob.pods.env import as_words, fetch_settings, main_env, merge_env, status_settings
from dglop.dgljob.pods.fetch import add_fetch
from dglop.dgljob.pods.names import Volume
from dglop.dgljob.pods.volumes import add_output, add_parts, add_run, add_secret, mount_parts, mount_zipapp
from dglop.dglrun import contract
from dglop.runtime.api import RawContainer

if TYPE_CHECKING:
    from dglop.dgljob.pods.context import PodContext
    from dglop.runtime.api import RawPod

__all__ = ("build_launcher", "build_worker")

_WAIT: Final = "trap 'exit 143' TERM INT; while :; do sleep 86400 & wait $!; done"
"""What a Worker does that says nothing itself; unlike a bare sleep it ends at once when it is told to."""
_NEEDS: Final = {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "2", "memory": "256Mi"}}
_HOST_FILES: Final = (
    contract.HOSTFILE_NAME,
    contract.IP_CONFIG_NAME,
    contract.HOSTFILE_DGLKE_NAME,
    contract.HOSTFILE_UPSTREAM_NAME,
    contract.HOSTFILE_OPENMPI_NAME,
    contract.PARTFILE_NAME,
    contract.KUBEXEC_NAME,
)


def build_worker(pod: RawPod, ctx: PodContext, main: RawContainer) -> None:
    """A pod that waits for what the Launcher starts in it."""
    if not main.command and not main.args:
        main.command = ["/bin/sh", "-c", _WAIT]
    merge_env(main, main_env(ctx) | exec_env(ctx))
    add_parts(pod, ctx)
    mount_parts(ctx, main, read_only=ctx.shape.dispatch is not DispatchMode.EXEC)
    add_output(pod, ctx, main)
    add_run(pod, main)
    if ctx.shape.dispatch is DispatchMode.PULL:
        add_fetch(pod, ctx, main)
    mount_zipapp(main)  # what `launch` starts may say how far it is: from dglrun import report
    add_delivery(pod, ctx.options.delivery_image)
    for server in range(ctx.spec.num_servers):
        main.add_port(f"dgl-{server}", ctx.spec.network.port_base + server)
    main.add_port("dgl-master", ctx.spec.network.master_port)


def build_launcher(pod: RawPod, ctx: PodContext, main: RawContainer) -> None:
    """Its init containers bring the parts and the host files to the Workers, then its own program begins."""
    merge_env(main, main_env(ctx) | exec_env(ctx) | status_settings(ctx))
    add_secret(pod, ctx, main)  # by it `launch` posts what the trainers report
    add_output(pod, ctx, main)
    add_run(pod, main)
    if ctx.shape.on_claim:
        add_parts(pod, ctx)
        mount_parts(ctx, main, read_only=False)
    _add_config(pod, ctx)
    main.mount(KUBECTL_VOLUME, contract.KUBE_DIR, read_only=True)
    mount_zipapp(main)
    if not has_own_account(ctx.job):
        pod.spec["serviceAccountName"] = account_name(ctx.job, ctx.shape.workers)
        pod.spec["automountServiceAccountToken"] = True  # without it the Launcher could start nothing
    add_delivery(pod, ctx.options.delivery_image)
    if ctx.shape.dispatch is DispatchMode.EXEC:
        _add_dispatch(pod, ctx)
    _add_connect(pod, ctx)


def _add_config(pod: RawPod, ctx: PodContext) -> None:
    name = config_name(ctx.job, ctx.replica.attempt)
    items = [{"key": key, "path": key} for key in _HOST_FILES]
    pod.volume(CONFIG_VOLUME, {"configMap": {"name": name, "items": items}})
    kubectl = [{"key": KUBECTL_KEY, "path": KUBECTL_KEY, "mode": 0o555}]
    pod.volume(KUBECTL_VOLUME, {"configMap": {"name": name, "items": kubectl}})


def _add_dispatch(pod: RawPod, ctx: PodContext) -> None:
    told = {
        **fetch_settings(ctx),
        contract.ENV_EXEC_CONFIG_DIR: CONFIG_DIR,
        contract.ENV_EXEC_CONTAINER: worker_container(ctx.job),
    }
    container = _container(ctx, DISPATCH, "dispatch", told)
    add_secret(pod, ctx, container)
    pod.add_init_container(container.data)


def _add_connect(pod: RawPod, ctx: PodContext) -> None:
    told = {
        contract.ENV_EXEC_CONFIG_DIR: CONFIG_DIR,
        contract.ENV_EXEC_CONTAINER: worker_container(ctx.job),
        contract.ENV_POD_NAME: ctx.replica.name,
    }
    container = _container(ctx, CONNECT, "connect", told)
    container.env.set(contract.ENV_POD_IP, {"fieldRef": {"fieldPath": "status.podIP"}})
    container.mount(Volume.RUN, contract.RUN_DIR)
    pod.add_init_container(container.data)


def _container(ctx: PodContext, name: str, verb: str, told: dict[str, str]) -> RawContainer:
    command = ["python3", DELIVERED, verb, *as_words(told)]
    mounts: list[dict[str, Any]] = [{"name": CONFIG_VOLUME, "mountPath": CONFIG_DIR, "readOnly": True}]
    data = delivery_container(name, ctx.options.delivery_image, command, mounts)
    return RawContainer({**data, "resources": {kind: dict(amounts) for kind, amounts in _NEEDS.items()}})

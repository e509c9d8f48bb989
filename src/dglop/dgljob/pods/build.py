# SPDX-License-Identifier: Apache-2.0
"""The pods of a DGLJob from their templates, one function a role."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dglop.dgljob.enums import Role
from dglop.dgljob.pods.assemble import add_assemble
from dglop.dgljob.pods.beside import add_partition
from dglop.dgljob.pods.command import run_builtin, wrap_command
from dglop.dgljob.pods.delivery import add_delivery
from dglop.dgljob.pods.env import as_words, dataset_secret, main_env, merge_env, split_env
from dglop.dgljob.pods.fetch import add_fetch
from dglop.dgljob.pods.readiness import add_readiness
from dglop.dgljob.pods.serve import add_serve
from dglop.dgljob.pods.shm import add_shm
from dglop.dgljob.pods.volumes import add_output, add_parts, add_run, add_secret, mount_parts
from dglop.dglrun import contract

if TYPE_CHECKING:
    from dglop.dgljob.pods.context import PodContext
    from dglop.runtime.api import RawContainer, RawPod

__all__ = ("build",)


def build(pod: RawPod, ctx: PodContext) -> None:
    """Makes the pod of one replica out of its template, in place.

    Raises SchemaError where the template is malformed; `validate` says so before.
    """
    main = pod.container(ctx.replica.main or 0)
    if ctx.partitions:
        _partitioner(pod, ctx, main)
    elif ctx.role is Role.WORKER:
        _worker(pod, ctx, main)
    else:
        _launcher(pod, ctx, main)
    add_shm(pod, main, ctx.spec.shm_size)
    for each in (main, *pod.init_containers):  # those whose end may decide
        each.data.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")
    _shut_out(pod)
    _name_peers(pod)


def _worker(pod: RawPod, ctx: PodContext, main: RawContainer) -> None:
    if ctx.shape.assembles:
        add_assemble(pod, ctx, main)
    wrap_command(main, ctx.spec.python, "worker", _tell(ctx, main))
    add_parts(pod, ctx)
    add_output(pod, ctx, main)
    add_run(pod, main)
    add_secret(pod, ctx, main)
    mount_parts(ctx, main, read_only=True)
    if not ctx.shape.on_claim and not ctx.shape.assembles:
        add_fetch(pod, ctx, main)
    add_delivery(pod, ctx.options.delivery_image)
    for server in range(ctx.spec.num_servers):  # what is listened on; portCount is the room that is kept
        main.add_port(f"dgl-{server}", ctx.spec.network.port_base + server)
    main.add_port("dgl-rendezvous", contract.RENDEZVOUS_PORT)
    main.add_port("dgl-master", ctx.spec.network.master_port)
    add_readiness(main, ctx.spec.python)


def _partitioner(pod: RawPod, ctx: PodContext, main: RawContainer) -> None:
    told = _tell(ctx, main)
    if _says_how(ctx):
        wrap_command(main, ctx.spec.python, "partition", told)
    else:
        run_builtin(main, ctx.spec.python, "partition", told)
    dataset_secret(ctx, main)
    add_parts(pod, ctx)
    mount_parts(ctx, main, read_only=False)
    add_run(pod, main)
    if ctx.shape.serves:
        add_serve(pod, ctx, main)
    if ctx.is_first_worker:
        add_readiness(main, ctx.spec.python)  # which a Worker is that trains, so this one never will be
    add_delivery(pod, ctx.options.delivery_image)


def _says_how(ctx: PodContext) -> bool:
    """Whether the template's own command partitions; worker-0's does where the job has no data set."""
    if ctx.is_first_worker:
        return not ctx.spec.has_dataset
    return bool(ctx.spec.template_of(Role.PARTITIONER))


def _launcher(pod: RawPod, ctx: PodContext, main: RawContainer) -> None:
    """The user's own program, run as it is; dglrun has no part in it, only in what may go before it."""
    merge_env(main, main_env(ctx, main))
    add_output(pod, ctx, main)
    if ctx.shape.on_claim:
        add_parts(pod, ctx)
        mount_parts(ctx, main, read_only=False)
    if ctx.launcher_partitions:
        add_partition(pod, replace(ctx, is_beside=True))
        add_delivery(pod, ctx.options.delivery_image)


def _tell(ctx: PodContext, main: RawContainer) -> list[str]:
    """What the kubelet or the template itself must know goes into the environment, the rest to dglrun."""
    env, told = split_env(main, main_env(ctx, main))
    merge_env(main, env)
    return as_words(told)


def _shut_out(pod: RawPod) -> None:
    """No token of the API server unless the template asks for one, and no variables of foreign Services."""
    if not pod.spec.get("serviceAccountName"):
        pod.spec.setdefault("automountServiceAccountToken", False)
    pod.spec.setdefault("enableServiceLinks", False)


def _name_peers(pod: RawPod) -> None:
    """On the node's network the default dnsPolicy would not know the cluster's names, by which pods meet."""
    if pod.spec.get("hostNetwork") and not pod.spec.get("dnsPolicy"):
        pod.spec["dnsPolicy"] = "ClusterFirstWithHostNet"

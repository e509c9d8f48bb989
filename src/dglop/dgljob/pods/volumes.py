# SPDX-License-Identifier: Apache-2.0
"""Volumes of a job's pods: parts, output, tokens, and the folder where the Workers meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.dgljob.enums import Role
from dglop.dgljob.pods.names import OUTPUT_DIR, SECRET_DIR, ZIPAPP_DIR, Volume
from dglop.dgljob.secret import secret_name
from dglop.dglrun import contract

if TYPE_CHECKING:
    from dglop.dgljob.pods.context import PodContext
    from dglop.runtime.api import RawContainer, RawPod

__all__ = ("add_output", "add_parts", "add_run", "add_secret", "add_zipapp", "mount_parts")


def add_zipapp(pod: RawPod) -> None:
    """The folder that the deliver container fills."""
    pod.volume(Volume.ZIPAPP, {"emptyDir": {}})


def add_run(pod: RawPod, container: RawContainer) -> None:
    """The folder of ip_config, the ready file and the progress file."""
    pod.volume(Volume.RUN, {"emptyDir": {}})
    container.mount(Volume.RUN, contract.RUN_DIR)


def add_secret(pod: RawPod, ctx: PodContext, container: RawContainer) -> None:
    """The tokens of the job."""
    pod.volume(Volume.SECRET, {"secret": {"secretName": secret_name(ctx.job)}})
    container.mount(Volume.SECRET, SECRET_DIR, read_only=True)


def mount_zipapp(container: RawContainer) -> None:
    container.mount(Volume.ZIPAPP, ZIPAPP_DIR, read_only=True)


def add_parts(pod: RawPod, ctx: PodContext) -> None:
    """The volume of the parts: the claim or nodes' folder that all mount, or a folder of the pod's own."""
    source: dict[str, Any] = {"emptyDir": {}}
    if ctx.shape.claim:
        source = {"persistentVolumeClaim": {"claimName": ctx.shape.claim}}
    elif ctx.shape.host_path:
        source = {"hostPath": {"path": ctx.shape.host_path, "type": "DirectoryOrCreate"}}
    pod.volume(Volume.PARTS, source)


def mount_parts(ctx: PodContext, container: RawContainer, *, read_only: bool) -> None:
    storage = ctx.spec.storage
    container.mount(Volume.PARTS, storage.mount_path, read_only=read_only, sub_path=storage.sub_path or None)


def add_output(pod: RawPod, ctx: PodContext, container: RawContainer) -> None:
    """Where trained files go; a mount of the user's own at this path is respected."""
    if container.has_mount(OUTPUT_DIR) or ctx.role is Role.PARTITIONER:
        return
    output = ctx.spec.output
    source: dict[str, Any] = {"emptyDir": {}}
    if output.claim_name:
        source = {"persistentVolumeClaim": {"claimName": output.claim_name}}
    pod.volume(Volume.OUTPUT, source)
    container.mount(Volume.OUTPUT, OUTPUT_DIR, sub_path=output.sub_path or None)

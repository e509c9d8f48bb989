# SPDX-License-Identifier: Apache-2.0
"""The second container of a Partitioner that keeps its parts on an emptyDir: it serves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dgljob.pods.env import serve_settings
from dglop.dgljob.pods.names import SERVE
from dglop.dgljob.pods.readiness import add_readiness
from dglop.dgljob.pods.sidekick import dglrun_container
from dglop.dgljob.pods.volumes import add_run, add_secret, mount_parts
from dglop.dglrun import contract

if TYPE_CHECKING:
    from dglop.dgljob.pods.context import PodContext
    from dglop.runtime.api import RawContainer, RawPod

__all__ = ("add_serve",)


def add_serve(pod: RawPod, ctx: PodContext, main: RawContainer) -> None:
    """Adds `dglrun serve`, which is ready once all parts can be fetched and ends with the job."""
    container = dglrun_container(SERVE, "serve", main=main, python=ctx.spec.python, told=serve_settings(ctx))
    # Alone among a gang's containers it may be started again: it keeps nothing but the files it serves.
    if ctx.options.features.container_restarts:
        container.data["restartPolicy"] = "OnFailure"
    container.add_port("parts", contract.PARTS_PORT)
    add_readiness(container, ctx.spec.python)
    mount_parts(ctx, container, read_only=True)
    add_secret(pod, ctx, container)
    add_run(pod, container)
    pod.spec["containers"].append(container.data)

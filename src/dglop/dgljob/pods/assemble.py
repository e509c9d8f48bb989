# SPDX-License-Identifier: Apache-2.0
"""The init container of a Worker that makes its own part, together with those of the other Workers."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from dglop.dgljob.pods.env import assemble_env, dataset_secret, merge_env, split_env
from dglop.dgljob.pods.names import ASSEMBLE
from dglop.dgljob.pods.sidekick import dglrun_container, plain_resources
from dglop.dgljob.pods.volumes import add_secret, mount_parts

if TYPE_CHECKING:
    from dglop.dgljob.pods.context import PodContext
    from dglop.runtime.api import RawContainer, RawPod

__all__ = ("add_assemble",)

_LIKE_MAIN = ("env", "envFrom", "volumeMounts", "volumeDevices", "workingDir")


def add_assemble(pod: RawPod, ctx: PodContext, main: RawContainer) -> None:
    """Adds `dglrun assemble` after the user's init containers.

    It reads the data set, so it has the mounts and the environment that `main` has in the template: this is
    to be called before anything is added to `main`.
    """
    env, told = split_env(main, assemble_env(ctx, main))
    container = dglrun_container(
        ASSEMBLE, "assemble", main=main, python=ctx.spec.python, told=told, resources=plain_resources(main)
    )
    own = container.data.pop("volumeMounts")
    container.data |= {key: copy.deepcopy(main.data[key]) for key in _LIKE_MAIN if main.data.get(key)}
    container.data["volumeMounts"] = [*container.data.get("volumeMounts", []), *own]
    merge_env(container, env)
    dataset_secret(ctx, container)
    mount_parts(ctx, container, read_only=False)
    add_secret(pod, ctx, container)
    pod.add_init_container(container.data)

# SPDX-License-Identifier: Apache-2.0
"""The Partitioner as an init container of the Launcher's pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.dgljob.enums import Role
from dglop.dgljob.pods.command import run_builtin, wrap_command
from dglop.dgljob.pods.env import as_words, dataset_secret, main_env, merge_env, split_env
from dglop.dgljob.pods.main import main_name
from dglop.dgljob.pods.names import PARTITION
from dglop.dgljob.pods.shm import add_shm
from dglop.dgljob.pods.template import partitioner_template
from dglop.dgljob.pods.volumes import mount_parts
from dglop.errors import SchemaError
from dglop.runtime.api import RawPod

if TYPE_CHECKING:
    from dglop.dgljob.pods.context import PodContext

__all__ = ("add_partition",)

_NOT_OF_INIT = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "restartPolicy")


def add_partition(pod: RawPod, ctx: PodContext) -> None:
    """Adds the Partitioner's main container after the user's init containers, and the volumes it mounts.

    `ctx` is that of what is beside the Launcher's own program. All else of the Partitioner's template, such
    as a nodeSelector, belongs to a pod that there is none of. Raises SchemaError where the two templates
    mean different things by one name.
    """
    spec = ctx.spec
    stated = spec.template_of(Role.PARTITIONER)
    derived = partitioner_template(spec.template_of(Role.WORKER) or {}, spec.main_container)
    source = RawPod(stated or derived).normalised()
    main = source.container(main_name(spec.main_container, source))
    for key in _NOT_OF_INIT:
        main.data.pop(key, None)
    env, told = split_env(main, main_env(ctx, main))
    if stated:
        wrap_command(main, spec.python, "partition", as_words(told))
    else:
        run_builtin(main, spec.python, "partition", as_words(told))
    merge_env(main, env)
    dataset_secret(ctx, main)
    main.data["name"] = PARTITION
    for each in source.spec.get("volumes") or []:
        _add_volume(pod, each)
    mount_parts(ctx, main, read_only=False)
    add_shm(pod, main, spec.shm_size)
    for each in source.init_containers:
        if any(each.name == other.name for other in (*pod.init_containers, *pod.containers)):
            raise SchemaError(f"a container of the Launcher has the name {each.name!r} too; rename one")
        pod.add_init_container(each.data)
    pod.add_init_container(main.data)


def _add_volume(pod: RawPod, volume: dict[str, Any]) -> None:
    name = str(volume.get("name"))
    found = next((each for each in pod.volumes if each.get("name") == name), None)
    if found is not None and found != volume:
        raise SchemaError(f"volume {name!r} is another one in the Launcher's template; rename one of them")
    if found is None:
        pod.volumes.append(volume)

# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a spec as far as launchMode Exec goes, in sentences that say what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dgljob.enums import DispatchMode, LauncherCreationPolicy, LaunchMode, Role
from dglop.dgljob.exec.names import CONFIG_DIR, OWN_PATHS
from dglop.dgljob.pods.main import main_name
from dglop.runtime.api import RawPod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.exec.right import ExecRight
    from dglop.dgljob.shape import Shape

__all__ = ("exec_problems", "launcher_problems", "right_problems")

_DISPATCH = "dispatch.mode Exec has the Launcher bring the parts to the Workers: it"


def right_problems(shape: Shape, right: ExecRight) -> Iterator[str]:
    """An operator that may not exec cannot let a Launcher do it either."""
    if shape.execs and not right.is_held:
        yield (
            "launchMode Exec needs the right to pods/exec, and nobody can grant what he does not hold: add "
            "config/components/exec to the operator (it asks for its rights when it starts), or use "
            "launchMode Direct, which needs none"
        )


def exec_problems(job: DGLJob, shape: Shape) -> Iterator[str]:
    """Mistakes beside the templates."""
    spec = job.spec
    if spec.dispatch.mode is DispatchMode.EXEC:
        if spec.launch_mode is not LaunchMode.EXEC:
            yield f"{_DISPATCH} needs launchMode Exec; else use Volume with a claim, or Pull"
        elif shape.on_claim:
            yield f"{_DISPATCH} does not go with storage.type PVC, which the Workers mount; leave mode out"
    if not shape.execs:
        return
    if not shape.has_launcher:
        yield (
            "launchMode Exec needs dglReplicaSpecs.Launcher: its command starts servers and trainers on the "
            "Workers, as `python3 /opt/dglrun/dglrun.pyz launch -- python3 train.py` does"
        )
    if spec.launcher_creation_policy is not LauncherCreationPolicy.WAIT_FOR_WORKERS_READY:
        yield (
            "launcherCreationPolicy AtStartup does not go with launchMode Exec: the Launcher's host files "
            "hold the addresses of all Workers, and are never changed; use WaitForWorkersReady"
        )


def launcher_problems(job: DGLJob, shape: Shape) -> Iterator[str]:
    """Mistakes in the Launcher's template."""
    if not shape.execs:
        return
    where = f"dglReplicaSpecs.{Role.LAUNCHER}.template"
    pod = RawPod(dict(job.spec.template_of(Role.LAUNCHER) or {}))
    name = main_name(job.spec.main_container, pod)
    if name not in [each.name for each in pod.containers]:
        return  # said of every template
    main = pod.container(name)
    for path in (*OWN_PATHS, CONFIG_DIR):
        if main.has_mount(path):
            yield f"{where}: {path} is where the operator mounts its own; mount yours elsewhere"
    if shape.launcher_partitions and not main.command:
        yield (
            f"{where}: container {name!r} must state command: as neither dataset nor a template of the "
            "Partitioner says how to partition, it is what the Partitioner runs, with "
            "DGL_OPERATOR_PHASE_ENV=Partitioner"
        )

# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a job's pod templates: the CRD keeps them as they are, so the controller must look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.templates import own_name_problems
from dglop.dgljob.enums import Role
from dglop.dgljob.pods.main import main_name
from dglop.dgljob.pods.names import (
    OUTPUT_DIR,
    OWN_CONTAINERS,
    RESERVED_PATHS,
    SHM_DIR,
    ZIPAPP,
)
from dglop.dgljob.pods.shm import shm_size
from dglop.runtime.api import RawPod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.shape import Shape
    from dglop.runtime.api import RawContainer

__all__ = ("template_problems",)

_VERBS = {Role.WORKER: "worker", Role.PARTITIONER: "partition"}


def template_problems(job: DGLJob, shape: Shape) -> Iterator[str]:
    """Mistakes in the templates that would fail or confuse later, with the path of each."""
    for role in (Role.PARTITIONER, Role.WORKER, Role.LAUNCHER):
        wanted = job.spec.replicas_of(role)
        template = job.spec.template_of(role)
        if role is Role.PARTITIONER and not template:
            if shape.partitions and shape.maker is not Role.WORKER:
                yield from _builtin(job)
        elif wanted:
            where = f"dglReplicaSpecs.{role}.template"
            yield from _contents(job, shape, role, RawPod(dict(template or {})), where)


def _builtin(job: DGLJob) -> Iterator[str]:
    if not job.spec.has_dataset:
        yield (
            "nobody says how to partition: state dataset.name or dataset.url, or dglReplicaSpecs.Partitioner "
            "with a template whose command leaves the parts in $DGLJOB_PARTS_DIR"
        )


def _contents(job: DGLJob, shape: Shape, role: Role, pod: RawPod, where: str) -> Iterator[str]:
    names = [each.name for each in pod.containers]
    main = main_name(job.spec.main_container, pod)
    if not names:
        yield f"{where}.spec.containers is empty; it needs a container with an image"
        return
    if main not in names:
        yield f"mainContainer {main!r} is not in {where}.spec.containers; there are: {', '.join(names)}"
        return
    container = pod.container(main)
    if not container.image:
        yield f"{where}: container {main!r} states no image"
    if role in _VERBS and not container.command:
        yield _no_command(where, main, job.spec.python, _VERBS[role])
    yield from own_name_problems(pod, where, OWN_CONTAINERS)
    yield from _paths(job, shape, role, container, where)
    yield from _memory(job, container, where)


def _no_command(where: str, main: str, python: str, verb: str) -> str:
    return (
        f"{where}: container {main!r} must state command, since `{python} {ZIPAPP} {verb} --` goes before it "
        'and the entrypoint of an image cannot be seen; write for example command: ["python3", "train.py"]'
    )


def _paths(job: DGLJob, shape: Shape, role: Role, main: RawContainer, where: str) -> Iterator[str]:
    if role in _VERBS:
        for path in RESERVED_PATHS:
            if main.has_mount(path):
                yield f"{where}: {path} is where the operator mounts its own; mount yours elsewhere"
    parts = job.spec.storage.mount_path
    if main.has_mount(parts) and (role in _VERBS or shape.on_claim):
        yield f"{where}: {parts} is where the parts are mounted; state the volume in spec.storage instead"
    if main.has_mount(OUTPUT_DIR) and job.spec.output.claim_name:
        yield f"{where}: {OUTPUT_DIR} is mounted by the template and by spec.output; remove one"


def _memory(job: DGLJob, main: RawContainer, where: str) -> Iterator[str]:
    limits = (main.data.get("resources") or {}).get("limits") or {}
    if main.has_mount(SHM_DIR) or job.spec.shm_size is not None:
        return
    try:
        shm_size(None, limits.get("memory"))
    except ValueError as problem:
        yield f"{where}: resources.limits.memory: {problem}"

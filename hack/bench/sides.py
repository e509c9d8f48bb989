# SPDX-License-Identifier: Apache-2.0
"""Who runs the load of the jobs bench: kinds of job, each with the operator that looks after it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dglop.runtime.api import Resource
from hack.bench.ours import our_operator
from hack.bench.peer import lifted_operator, peer_installed, peer_operator
from hack.bench.torch import ONLY_PYTORCH, torch_installed
from hack.bench.workload import dgl_job, pytorch_job

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from pathlib import Path

    from hack.bench.operator import Operator
    from hack.bench.peer_build import PeerBuild
    from hack.stack import Stack

__all__ = ("DGL_JOBS", "Side", "our_sides", "peer_sides")

DGL_JOBS = Resource("kubeflow.org", "v1alpha1", "DGLJob", "dgljobs")
_PYTORCH_JOBS = Resource("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs")


@dataclass(frozen=True, slots=True)
class Side:
    """A kind of job, the operator that looks after it, and what that needs in the cluster."""

    name: str
    resource: Resource
    make: Callable[[str, str], dict[str, Any]]
    start: Callable[[], AbstractAsyncContextManager[Operator]]
    install: Callable[[], AbstractContextManager[None]] = nullcontext


def our_sides(stack: Stack, deployment: Mapping[str, Any], folder: Path) -> dict[str, Side]:
    """DGLJobs, and PyTorchJobs to compare like with like."""
    start = partial(our_operator, stack, deployment, folder)
    return {
        "ours": Side("ours", DGL_JOBS, dgl_job, start),
        "torch": Side(
            "torch",
            _PYTORCH_JOBS,
            pytorch_job,
            partial(our_operator, stack, deployment, folder, ONLY_PYTORCH),
            partial(torch_installed, stack, deployment),
        ),
    }


def peer_sides(stack: Stack, build: PeerBuild, folder: Path) -> dict[str, Side]:
    """training-operator with its own defaults, and without its limits."""
    install = partial(peer_installed, stack, build)
    starts = {"peer": peer_operator, "lifted": lifted_operator}
    return {
        name: Side(name, _PYTORCH_JOBS, pytorch_job, partial(start, stack, build, folder), install)
        for name, start in starts.items()
    }

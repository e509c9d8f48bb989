# SPDX-License-Identifier: Apache-2.0
"""PyTorchJobs as the API server would hand them out, and what their pods are told."""

from __future__ import annotations

from typing import Any

from dglop.pytorchjob import PyTorchJob, PyTorchJobKind
from dglop.testing.builders import pod_template
from dglop.testing.simulation import Simulation

__all__ = ("env_of", "make_job", "role", "simulate")


def role(replicas: int = 1, *containers: str, **more: Any) -> dict[str, Any]:
    """A replica spec with these containers; `pytorch` alone where none is named."""
    template = pod_template(*(containers or ("pytorch",)))
    return {"replicas": replicas, "template": template, **more}


def make_job(*, master: int = 1, workers: int = 2, name: str = "g", **spec: Any) -> PyTorchJob:
    """A Master and two Workers by default; a type of which there shall be none is left out."""
    counts = {"Master": master, "Worker": workers}
    specs = {each: role(count) for each, count in counts.items() if count}
    metadata = {"name": name, "namespace": "t", "uid": f"uid-{name}", "generation": 1}
    return PyTorchJob.from_wire({"metadata": metadata, "spec": {"pytorchReplicaSpecs": specs, **spec}})


def simulate(job: PyTorchJob | None = None, **fields: Any) -> Simulation[PyTorchJob]:
    """A simulation of a new job, already settled."""
    world = Simulation(job or make_job(**fields), PyTorchJobKind())
    world.settle()
    return world


def env_of(world: Simulation[PyTorchJob], kind: str, index: int = 0, container: int = 0) -> dict[str, str]:
    """The environment of one container, by name."""
    listed = world.pod(kind, index)["spec"]["containers"][container]["env"]
    return {each["name"]: each["value"] for each in listed}

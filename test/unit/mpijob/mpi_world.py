# SPDX-License-Identifier: Apache-2.0
"""MPIJobs as the API server would hand them out, and what their pods are told."""

from __future__ import annotations

import hashlib
from typing import Any

from dglop.mpijob import MPIJob, MPIJobKind, MPIOptions
from dglop.testing.builders import pod_template
from dglop.testing.simulation import Simulation

__all__ = ("config_of", "env_of", "make_job", "make_kind", "role", "simulate")


def role(replicas: int = 1, **more: Any) -> dict[str, Any]:
    return {"replicas": replicas, "template": pod_template("mpi"), **more}


def make_job(*, workers: int = 2, name: str = "g", **spec: Any) -> MPIJob:
    """A Launcher and two Workers by default, without Workers where there shall be none."""
    specs = {"Launcher": role(), **({"Worker": role(workers)} if workers else {})}
    metadata = {"name": name, "namespace": "t", "uid": f"uid-{name}", "generation": 1}
    return MPIJob.from_wire({"metadata": metadata, "spec": {"mpiReplicaSpecs": specs, **spec}})


def make_kind() -> MPIJobKind:
    """The kind under a key that gives every UID a seed of its own."""
    return MPIJobKind(MPIOptions(lambda uid: hashlib.sha512(uid.encode()).digest(), "operator:test"))


def simulate(job: MPIJob | None = None, **fields: Any) -> Simulation[MPIJob]:
    """A simulation of a new job, already settled."""
    world = Simulation(job or make_job(**fields), make_kind())
    world.settle()
    return world


def env_of(world: Simulation[MPIJob], kind: str, index: int = 0) -> dict[str, str]:
    """The environment of the first container, by name."""
    listed = world.pod(kind, index)["spec"]["containers"][0]["env"]
    return {each["name"]: each["value"] for each in listed}


def config_of(world: Simulation[MPIJob]) -> dict[str, str]:
    """The data of the ConfigMap that the Launcher mounts."""
    volumes = {each["name"]: each for each in world.pod("Launcher")["spec"]["volumes"]}
    name = volumes["dglop-mpi-config"]["configMap"]["name"]
    data: dict[str, str] = world.objects[f"ConfigMap/{name}"]["data"]
    return data

# SPDX-License-Identifier: Apache-2.0
"""Kubeflow's own manifests, and the shipped samples, give jobs whose pods can be built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dglop.common.observed import Observed
from dglop.common.plan import plan
from dglop.mpijob import MPIJob
from dglop.pytorchjob import PyTorchJob, PyTorchJobKind
from dglop.testing.builders import T0, stored
from test.unit.mpijob.mpi_world import make_kind

_SAMPLES = Path(__file__).parents[3] / "config" / "samples"
_MANIFESTS = Path(__file__).parents[2] / "envtest" / "kinds" / "manifests"


def _plan(path: Path) -> Any:
    wire = yaml.safe_load(path.read_text())
    if wire["kind"] == "PyTorchJob":
        return plan(stored(PyTorchJob.from_wire(wire)), Observed(), T0, PyTorchJobKind())
    return plan(stored(MPIJob.from_wire(wire)), Observed(), T0, make_kind())


@pytest.mark.parametrize("name", sorted(each.name for each in _MANIFESTS.glob("*job-*.yaml")))
def test_the_pods_of_a_manifest_of_kubeflows_are_built_from_its_templates(name: str) -> None:
    wire = yaml.safe_load((_MANIFESTS / name).read_text())
    made = _plan(_MANIFESTS / name)
    specs = wire["spec"].get("pytorchReplicaSpecs") or wire["spec"]["mpiReplicaSpecs"]
    assert len(made.creates) == sum(each["replicas"] for each in specs.values())
    for create in made.creates:
        stated = specs[create.role]["template"]["spec"]["containers"][0]
        built = create.manifest["spec"]["containers"][0]
        for field in ("image", "command", "args"):
            if stated.get(field):
                assert built[field] == stated[field]


@pytest.mark.parametrize(("name", "pods"), [("pytorchjob", 2), ("mpijob", 3)])
def test_a_shipped_sample_can_run(name: str, pods: int) -> None:
    made = _plan(_SAMPLES / f"{name}.yaml")
    assert len(made.creates) == pods
    assert made.status.state == "Created"


def test_an_elastic_job_fails_with_what_to_do() -> None:
    made = _plan(_MANIFESTS / "elastic-echo.yaml")
    assert not made.creates
    assert "elasticPolicy is not supported" in made.status.get("Failed").message

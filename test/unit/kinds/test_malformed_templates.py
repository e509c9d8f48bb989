# SPDX-License-Identifier: Apache-2.0
"""Whatever a template holds, a job of any kind fails or runs; the operator never breaks on it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dglop.common.observed import Observed
from dglop.common.plan import plan
from dglop.common.types import ReplicaSpec
from dglop.pytorchjob import PyTorchJobKind
from dglop.testing.builders import T0, stored
from examples.torchjob import TorchJob, TorchJobKind, TorchJobSpec
from examples.xgboostjob import XGBoostJob, XGBoostJobKind, XGBoostJobSpec
from test.unit.dgljob.test_dgljob_malformed import ODD, WHOLE, paths
from test.unit.mpijob.mpi_world import make_job as make_mpijob
from test.unit.mpijob.mpi_world import make_kind as make_mpi
from test.unit.pytorchjob.pytorch_world import make_job as make_pytorchjob


def _whole() -> dict[str, Any]:
    template = copy.deepcopy(WHOLE)
    template["spec"]["containers"][0] |= {
        "name": "pytorch",
        "ports": [{"name": "pytorchjob-port", "containerPort": 1}],
    }
    template["spec"]["dnsConfig"] = {"searches": ["example.com"]}
    template["spec"]["securityContext"] = {"runAsUser": 0}
    return template


def _job(kind: str) -> tuple[Any, Any, list[ReplicaSpec]]:
    """A job of the kind, the kind, and the two replica types of the job; the last two kinds look at none."""
    if kind == "PyTorchJob":
        torch = make_pytorchjob(workers=1)
        return torch, PyTorchJobKind(), list(torch.spec.pytorch_replica_specs.values())
    if kind == "MPIJob":
        mpi = make_mpijob(workers=1)
        return mpi, make_mpi(), list(mpi.spec.mpi_replica_specs.values())
    master, worker = ReplicaSpec(), ReplicaSpec()
    if kind == "XGBoostJob":
        spec = XGBoostJobSpec(xgb_replica_specs={"Master": master, "Worker": worker})
        boost = XGBoostJob(name="g", spec=spec)
        return boost, XGBoostJobKind(), list(boost.spec.xgb_replica_specs.values())
    own = TorchJob(name="g", spec=TorchJobSpec(master=master, worker=worker))
    return own, TorchJobKind(), [own.spec.master, own.spec.worker or worker]


@pytest.mark.parametrize("kind", ["PyTorchJob", "MPIJob", "TorchJob", "XGBoostJob"])
@settings(max_examples=150)
@given(st.sampled_from(paths(_whole())), ODD, st.booleans())
def test_a_template_with_anything_anywhere_ends_in_pods_or_a_sentence(
    kind: str, path: tuple[Any, ...], value: Any, is_first: bool
) -> None:
    template = _whole()
    place: Any = template
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    templates = [template, _whole()] if is_first else [_whole(), template]
    job, of, specs = _job(kind)
    for each, chosen in zip(specs, templates, strict=True):
        each.template = chosen
    made = plan(stored(job), Observed(), T0, of)
    failed = made.status.get("Failed")
    assert made.creates or (failed is not None and failed.reason == "InvalidSpec" and failed.message)

# SPDX-License-Identifier: Apache-2.0
"""What of a runPolicy may change while a job runs, as the API server sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.dgljob import DGLJob
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from dglop.testing.builders import pod_template
from dglop.testing.toyjob import ToyJob
from examples.xgboostjob import XGBoostJob
from test.envtest.policy_cases import CHANGES, try_change

if TYPE_CHECKING:
    from dglop.runtime.client import Client

ROLE = {"replicas": 1, "template": pod_template()}
MASTER = {"replicas": 1, "template": pod_template("xgboost")}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "TestJob": (ToyJob, {"replicaSpecs": {"worker": ROLE}}),
    "XGBoostJob": (XGBoostJob, {"xgbReplicaSpecs": {"Master": MASTER}}),
    "DGLJob": (DGLJob, {"dglReplicaSpecs": {"Worker": ROLE}}),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_run_policy_changes_only_as_it_may(
    client: Client, namespace: str, kind: str, name: str
) -> None:
    job, spec = KINDS[kind]
    await install_crds(client, [job], SystemClock())
    await try_change(client, job, spec, namespace, name)

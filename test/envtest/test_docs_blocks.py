# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows works on a real API server: Python that needs one, and every manifest."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from dglop import ClientConfig, FieldValidation, Manager, Settings
from dglop.common import JobReconciler
from dglop.common.constants import POD
from dglop.errors import DglopError
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from examples.greeting import Greeting
from examples.quickstart.website import Website
from examples.torchjob import TorchJob, TorchJobKind
from examples.xgboostjob import XGBoostJob
from test.blockrunner import PageRunner
from test.pages import PYTHON, ROOT, blocks, with_blocks

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

NEEDING = [page for page in with_blocks("python") if any(each.flag for each in blocks(page, "python"))]
MANIFESTS = [
    (str(block), wire)
    for page in with_blocks("yaml")
    for block in blocks(page, "yaml")
    for wire in yaml.safe_load_all(block.text)
]


@pytest.mark.parametrize("page", NEEDING, ids=lambda page: page.stem)
async def test_the_python_of_a_page_works_on_a_real_api_server(
    page: Path, server: Envtest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DGLOP_KUBECONFIG", str(server.kubeconfig))
    with PageRunner(page, tmp_path, monkeypatch) as runner:
        for block in blocks(page, *PYTHON):
            await runner.run(block)


async def _send(client: Client, wire: dict[str, Any], namespace: str) -> None:
    await install_crds(client, [Greeting, TorchJob, Website, XGBoostJob], SystemClock())
    strict = client.dry_run().with_validation(FieldValidation.STRICT)
    await strict.create({**wire, "metadata": {**wire["metadata"], "namespace": namespace}})


@pytest.mark.parametrize(("place", "wire"), MANIFESTS, ids=[place for place, _ in MANIFESTS])
async def test_a_manifest_of_the_docs_is_taken_as_it_is(
    place: str, wire: dict[str, Any], client: Client, namespace: str
) -> None:
    await _send(client, wire, namespace)


async def _pods(client: Client, count: int) -> list[dict[str, Any]]:
    """The pods, once there are so many."""
    while True:
        pods = await client.list(POD)
        if len(pods) >= count:
            return pods
        await asyncio.sleep(0.1)


async def test_the_job_of_the_kinds_page_gets_its_pods_and_they_can_meet(
    server: Envtest, client: Client, namespace: str
) -> None:
    here = client.in_namespace(namespace)
    settings = Settings(metrics_bind="0", health_bind="0", namespace=namespace, install_crds=True)
    manager = Manager(settings, name="torchjob", config=ClientConfig(kubeconfig=str(server.kubeconfig)))
    manager.controller(TorchJob, JobReconciler(TorchJobKind()))
    async with manager:
        await here.create(yaml.safe_load((ROOT / "examples" / "torchjob.yaml").read_text()))
        async with asyncio.timeout(60):
            pods = await _pods(here, 3)
    env = [{each["name"]: each["value"] for each in pod["spec"]["containers"][0]["env"]} for pod in pods]
    master = f"mnist-master-0.mnist.{namespace}.svc"
    assert [pod["metadata"]["name"] for pod in pods] == ["mnist-master-0", "mnist-worker-0", "mnist-worker-1"]
    assert [each["RANK"] for each in env] == ["0", "1", "2"]
    assert {(each["WORLD_SIZE"], each["MASTER_PORT"]) for each in env} == {("3", "29500")}
    assert all(each["MASTER_ADDR"].startswith(master) for each in env)


async def test_a_manifest_with_a_field_that_is_not_there_would_be_refused(
    client: Client, namespace: str
) -> None:
    wire = yaml.safe_load((ROOT / "examples" / "torchjob.yaml").read_text())
    wire["spec"]["wroker"] = wire["spec"].pop("worker")
    with pytest.raises(DglopError, match="wroker"):
        await _send(client, wire, namespace)

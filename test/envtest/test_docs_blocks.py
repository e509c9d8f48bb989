# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows works on a real API server: Python that needs one, and every manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from dglop.errors import DglopError
from dglop.runtime.client import FieldValidation
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from examples.greeting import Greeting
from examples.torchjob import TorchJob
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
    await install_crds(client, [Greeting, TorchJob], SystemClock())
    strict = client.dry_run().with_validation(FieldValidation.STRICT)
    await strict.create({**wire, "metadata": {**wire["metadata"], "namespace": namespace}})


@pytest.mark.parametrize(("place", "wire"), MANIFESTS, ids=[place for place, _ in MANIFESTS])
async def test_a_manifest_of_the_docs_is_taken_as_it_is(
    place: str, wire: dict[str, Any], client: Client, namespace: str
) -> None:
    await _send(client, wire, namespace)


async def test_a_manifest_with_a_field_that_is_not_there_would_be_refused(
    client: Client, namespace: str
) -> None:
    wire = yaml.safe_load((ROOT / "examples" / "torchjob.yaml").read_text())
    wire["spec"]["wroker"] = wire["spec"].pop("worker")
    with pytest.raises(DglopError, match="wroker"):
        await _send(client, wire, namespace)

# SPDX-License-Identifier: Apache-2.0
"""Which tests a machine can run."""

from __future__ import annotations

from typing import Any

import pytest

from test.needs import offers_gpu


def node(gpus: str | None, **annotations: str) -> dict[str, Any]:
    allocatable = {"cpu": "2"} if gpus is None else {"cpu": "2", "nvidia.com/gpu": gpus}
    return {"metadata": {"annotations": annotations}, "status": {"allocatable": allocatable}}


@pytest.mark.parametrize(
    ("nodes", "offered"),
    [
        ([], False),
        ([node(None), node("0")], False),
        ([node(None), node("1")], True),
        ([node("1k", **{"kwok.x-k8s.io/node": "fake"})], False),
    ],
)
def test_only_a_real_node_with_a_device_offers_a_gpu(nodes: list[dict[str, Any]], offered: bool) -> None:
    assert offers_gpu(nodes) is offered

# SPDX-License-Identifier: Apache-2.0
"""How the API server shows whether a scheduler chose a pod's node or its template named it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.constants import POD
from dglop.testing.builders import pod_template

if TYPE_CHECKING:
    from dglop.runtime.client import Client


def _pod(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **pod_template(**spec)}


async def test_a_scheduler_leaves_a_condition_and_a_template_that_names_a_node_none(
    client: Client, namespace: str
) -> None:
    """By this the pod of a node that never was is told from one that was lost with its node."""
    pinned = _pod("pinned", namespace, nodeName="some-node")
    for pod in (_pod("bound", namespace), pinned):
        await client.create(pod)
    target = {"target": {"kind": "Node", "name": "some-node"}}
    await client.subresource(POD, "binding").create("bound", target, namespace)
    found = {}
    for name in ("pinned", "bound"):
        status = (await client.get(POD, name, namespace))["status"]
        found[name] = [each["type"] for each in status.get("conditions", [])]
    assert found == {"pinned": [], "bound": ["PodScheduled"]}

# SPDX-License-Identifier: Apache-2.0
"""Whatever a template holds, the job fails or runs; the operator never breaks on it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dglop.common.observed import Observed
from dglop.common.plan import plan
from test.unit.dgljob.dgljob_world import T0, make_job, make_kind

WHOLE: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {
        "restartPolicy": "Always",
        "serviceAccountName": "sa",
        "nodeSelector": {"x": "y"},
        "volumes": [{"name": "data", "emptyDir": {"sizeLimit": "1Gi"}}],
        "initContainers": [{"name": "init", "image": "i", "env": [{"name": "A", "value": "1"}]}],
        "containers": [
            {
                "name": "dgl",
                "image": "i",
                "command": ["python3", "train.py"],
                "args": ["--x"],
                "env": [{"name": "B", "value": "2"}, {"name": "C", "valueFrom": {"fieldRef": {}}}],
                "envFrom": [{"secretRef": {"name": "s"}}],
                "ports": [{"name": "p", "containerPort": 1}],
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                "resources": {"limits": {"memory": "1Gi", "nvidia.com/gpu": 1}, "requests": {"cpu": 1}},
                "securityContext": {"runAsUser": 1000},
                "readinessProbe": {"exec": {"command": ["x"]}},
            },
            {"name": "side", "image": "s"},
        ],
    },
}
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, "", "text", 0, -1, 1.5, True, [], {}, [1], ["x"], [None], {"x": 1}, [[]], [{}]]
)


def paths(node: Any, head: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [head] if head else []
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in pairs:
        found += paths(value, (*head, key))
    return found


def replaced(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    template = copy.deepcopy(WHOLE)
    place: Any = template
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return template


@settings(max_examples=200)
@given(st.sampled_from(paths(WHOLE)), ODD, st.sampled_from(["Worker", "Partitioner", "Launcher"]))
def test_a_template_with_anything_anywhere_ends_in_a_pod_or_a_sentence(path, value, role):
    specs = {"Worker": {"replicas": 1, "template": copy.deepcopy(WHOLE)}}
    specs[role] = {"replicas": 1, "template": replaced(path, value)}
    # The first plan builds a pod of every role, to see whether all of them can be built.
    made = plan(make_job(specs=specs), Observed(), T0, make_kind())
    failed = made.status.get("Failed")
    assert made.creates or (failed is not None and failed.reason == "InvalidSpec" and failed.message)

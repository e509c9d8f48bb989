# SPDX-License-Identifier: Apache-2.0
"""The pod sets of a job: what Kueue needs to know of its pods in order to let them in."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from dglop.common.constants import LABEL_REPLICA_INDEX
from dglop.common.pods import pod_manifest
from dglop.runtime.api.rawvalues import texts_of

if TYPE_CHECKING:
    from dglop.common.draft import Draft, Role

__all__ = ("pod_sets", "pod_sets_hash")

_CONTAINER: Final = ("name", "image", "resources", "restartPolicy")
_POD: Final = (
    "affinity",
    "nodeSelector",
    "overhead",
    "priorityClassName",
    "resourceClaims",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "tolerations",
    "topologySpreadConstraints",
)
_TOPOLOGY: Final = {
    "kueue.x-k8s.io/podset-required-topology": "required",
    "kueue.x-k8s.io/podset-preferred-topology": "preferred",
    "kueue.x-k8s.io/podset-unconstrained-topology": "unconstrained",
}


def pod_sets(draft: Draft) -> list[dict[str, Any]]:
    """
    One pod set for each replica type that has pods, by its name in lower case.

    Types that follow one another are all counted: Kueue adds up, and `reclaimable` gives back what is done.
    Raises SchemaError where a pod cannot be built from its template.
    """
    return [_pod_set(draft, role) for role in draft.roles.values() if role.wanted]


def pod_sets_hash(draft: Draft) -> str:
    """Changes with what a person can change of the pod sets, and with nothing else, such as the attempt."""
    stated = [[role.name, role.wanted, role.spec.template] for role in draft.roles.values() if role.wanted]
    return hashlib.sha256(json.dumps(stated, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _pod_set(draft: Draft, role: Role) -> dict[str, Any]:
    spec = pod_manifest(draft, role, 0)["spec"]
    slim = {key: spec[key] for key in _POD if key in spec}
    for key in ("initContainers", "containers"):
        if spec.get(key):
            slim[key] = [{name: each[name] for name in _CONTAINER if name in each} for each in spec[key]]
    metadata = role.spec.template.get("metadata")
    stated = metadata if isinstance(metadata, dict) else {}
    kept = {key: texts_of(stated[key]) for key in ("labels", "annotations") if stated.get(key)}
    made = {"name": role.name.lower(), "count": role.wanted, "template": {"metadata": kept, "spec": slim}}
    wish = _topology(stated.get("annotations") or {})
    return {**made, "topologyRequest": wish} if wish else made


def _topology(annotations: dict[str, Any]) -> dict[str, Any] | None:
    for key, field in _TOPOLOGY.items():
        if key in annotations:
            value: Any = annotations[key]
            if field == "unconstrained":
                value = str(value).lower() == "true"
            return {field: value, "podIndexLabel": LABEL_REPLICA_INDEX}
    return None

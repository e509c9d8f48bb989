# SPDX-License-Identifier: Apache-2.0
"""What some tests need of the machine, found out only when such a test is collected."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from hack.cluster import ClusterError, Provider, choose_provider
from hack.cluster.commands import output, succeeds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ("NEEDS", "Need", "offers_gpu")


@dataclass(frozen=True, slots=True)
class Need:
    """A condition, and the sentence for the list of what did not run."""

    lacking: str
    is_met: Callable[[], bool]


def has_docker() -> bool:
    return succeeds(["docker", "info"])


def has_local() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0 and _provider().name == "local"


def has_gpu() -> bool:
    """Whether the cluster runs and has a GPU to give: a device in this machine alone reaches no pod."""
    provider = _provider()
    try:
        if not provider.status().running:
            return False
        kubectl = [str(provider.kubectl()), "--kubeconfig", str(provider.kubeconfig())]
        return offers_gpu(json.loads(output([*kubectl, "get", "nodes", "-o", "json"]))["items"])
    except ClusterError:
        return False  # the tests that share the cluster tell what is wrong with it


def offers_gpu(nodes: Sequence[dict[str, Any]]) -> bool:
    """Whether one of these nodes, which is not simulated, has a GPU that pods may ask for."""
    return any(
        int(node["status"].get("allocatable", {}).get("nvidia.com/gpu", "0"))
        for node in nodes
        if "kwok.x-k8s.io/node" not in node["metadata"].get("annotations", {})
    )


def _provider() -> Provider:
    try:
        return choose_provider()
    except ClusterError as error:
        raise pytest.UsageError(str(error)) from error


def has_own() -> bool:
    return _provider().name != "external"


NEEDS = {
    "needs_own": Need(
        "the cluster is not ours: it has no fake node, and no images by the names of the samples", has_own
    ),
    "needs_docker": Need("no Docker engine answers here", has_docker),
    "needs_gpu": Need("no node of a running cluster offers nvidia.com/gpu", has_gpu),
    "needs_local": Need(
        "the cluster is not one of this machine's own processes, which takes root on Linux", has_local
    ),
}

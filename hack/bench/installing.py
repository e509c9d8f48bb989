# SPDX-License-Identifier: Apache-2.0
"""A kind is in the cluster for as long as it is measured: its CRD, its rights; gone after that."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import yaml

from hack.bench.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hack.stack import Stack

__all__ = ("PYTORCH_CRD", "installed", "is_established", "labelled", "read_manifest")

PYTORCH_CRD = "pytorchjobs.kubeflow.org"

_LABELS = {"app.kubernetes.io/part-of": "dglop-bench"}
_ASK_AGAIN_SECONDS = 0.1
_LIMIT_SECONDS = 60


def labelled(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest, known as one that the bench may take away."""
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), **_LABELS}}}


def read_manifest(path: Path) -> dict[str, Any]:
    """The first document of a file."""
    documents = [each for each in yaml.safe_load_all(path.read_text()) if each]
    found: dict[str, Any] = documents[0]
    return found


@contextmanager
def installed(stack: Stack, crd: str, objects: Sequence[dict[str, Any]]) -> Iterator[None]:
    """
    The objects are in the cluster inside the block, and the CRD among them is served.

    Raises:
        BenchError: the cluster has the CRD already, and not from here; or it is not served in time.
    """
    selector = ",".join(f"{key}={value}" for key, value in _LABELS.items())
    found = stack.run("get", "crd", crd, "--ignore-not-found", "-o", "name").strip()
    if found and not stack.run("get", "crd", "-l", selector, "-o", "name").strip():
        raise BenchError(f"{found} is in this cluster already: use another for the bench, or --sides without")
    documents = "\n---\n".join(json.dumps(labelled(each)) for each in objects)
    # By the server: a CRD may be longer than an annotation may be.
    stack.run("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=documents)
    try:
        _until_served(stack, crd)
        yield
    finally:
        stack.run("delete", "-f", "-", "--ignore-not-found", "--wait", stdin=documents)


def _until_served(stack: Stack, crd: str) -> None:
    """Wait for the CRD; `kubectl wait` takes the null that a new one has for conditions as an error."""
    end = time.monotonic() + _LIMIT_SECONDS
    while not is_established(json.loads(stack.run("get", "crd", crd, "-o", "json"))):
        if time.monotonic() > end:
            raise BenchError(f"crd/{crd} is not served after {_LIMIT_SECONDS} s: look at `kubectl describe`")
        time.sleep(_ASK_AGAIN_SECONDS)


def is_established(crd: dict[str, Any]) -> bool:
    conditions = crd.get("status", {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)

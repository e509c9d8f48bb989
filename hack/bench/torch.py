# SPDX-License-Identifier: Apache-2.0
"""Our own PyTorchJob beside the peer's: its CRD and rights, as config/components/pytorchjob has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hack.bench.installing import PYTORCH_CRD, installed, read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from hack.stack import Stack

__all__ = ("ONLY_PYTORCH", "torch_installed", "torch_objects")

ONLY_PYTORCH = "--kinds=PyTorchJob"

_COMPONENT = Path(__file__).resolve().parent.parent.parent / "config/components/pytorchjob"


def torch_objects(deployment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The CRD, and the role bound to the account of the Deployment."""
    role, binding = (read_manifest(_COMPONENT / name) for name in ("role.yaml", "role_binding.yaml"))
    account = {
        "kind": "ServiceAccount",
        "name": deployment["spec"]["template"]["spec"]["serviceAccountName"],
        "namespace": deployment["metadata"]["namespace"],
    }
    return [read_manifest(_COMPONENT / "crd.yaml"), role, {**binding, "subjects": [account]}]


def torch_installed(stack: Stack, deployment: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Our CRD and rights are in the cluster inside the block. Raises BenchError where another's CRD is."""
    return installed(stack, PYTORCH_CRD, torch_objects(deployment))

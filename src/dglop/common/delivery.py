# SPDX-License-Identifier: Apache-2.0
"""Init containers of the operator's own image: what they share of rights and resources."""

from __future__ import annotations

from typing import Any, Final

__all__ = ("DEFAULT_IMAGE", "delivery_container")

DEFAULT_IMAGE: Final = "dglop.local/operator:dev"
"""The operator's image where no flag names another."""
_USER: Final = 65532


def delivery_container(
    name: str, image: str, command: list[str], mounts: list[dict[str, Any]]
) -> dict[str, Any]:
    """An init container that brings or awaits something for the user's, whatever their image is.

    The pod's imagePullSecrets are the template's, and serve this image too.
    """
    return {
        "name": name,
        "image": image,
        "command": command,
        "resources": {
            "requests": {"cpu": "10m", "memory": "16Mi"},
            "limits": {"cpu": "500m", "memory": "64Mi"},
        },
        "securityContext": {
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": mounts,
    }

# SPDX-License-Identifier: Apache-2.0
"""The init container that brings dglrun into a pod, whatever the user's image is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.dgljob.pods.names import DELIVER, ZIPAPP, ZIPAPP_DIR, Volume
from dglop.dgljob.pods.volumes import add_zipapp
from dglop.dglrun import contract

if TYPE_CHECKING:
    from dglop.runtime.api import RawPod

__all__ = ("DELIVERED", "add_delivery")

DELIVERED = f"/opt/dglop/{contract.ZIPAPP_NAME}"
"""Where the operator's image keeps dglrun."""

_USER = 65532


def add_delivery(pod: RawPod, image: str) -> None:
    """Adds the init container that copies dglrun out of the operator's image, before all others.

    The pod's imagePullSecrets are the template's, and serve this image too.
    """
    add_zipapp(pod)
    container: dict[str, Any] = {
        "name": DELIVER,
        "image": image,
        "command": ["cp", DELIVERED, ZIPAPP],
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
        "volumeMounts": [{"name": Volume.ZIPAPP, "mountPath": ZIPAPP_DIR}],
    }
    pod.add_init_container(container, first=True)

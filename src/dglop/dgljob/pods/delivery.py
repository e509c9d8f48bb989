# SPDX-License-Identifier: Apache-2.0
"""The init container that brings dglrun into a pod, whatever the user's image is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.delivery import delivery_container
from dglop.dgljob.pods.names import DELIVER, ZIPAPP, ZIPAPP_DIR, Volume
from dglop.dgljob.pods.volumes import add_zipapp
from dglop.dglrun import contract

if TYPE_CHECKING:
    from dglop.runtime.api import RawPod

__all__ = ("DELIVERED", "add_delivery")

DELIVERED = f"/opt/dglop/{contract.ZIPAPP_NAME}"
"""Where the operator's image keeps dglrun."""


def add_delivery(pod: RawPod, image: str) -> None:
    """Adds the init container that copies dglrun out of the operator's image, before all others."""
    add_zipapp(pod)
    mounts = [{"name": Volume.ZIPAPP, "mountPath": ZIPAPP_DIR}]
    pod.add_init_container(delivery_container(DELIVER, image, ["cp", DELIVERED, ZIPAPP], mounts), first=True)

# SPDX-License-Identifier: Apache-2.0
"""Volumes for claims of the class `standard`, an operator: a folder of the one real node for each claim."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kubernetes.aio.client import V1PersistentVolume, V1PersistentVolumeClaim

from dglop import Manager, NotFoundError, Settings
from dglop.errors import AlreadyExistsError
from dglop.runtime.client.convert import wire_of

if TYPE_CHECKING:
    from dglop import Context

__all__ = ("PROVISIONER", "Folders", "ProvisionerSettings", "released", "volume_for", "waits")

PROVISIONER = "dglop.dev/host-path"
NODE = "local-0"
BY = "pv.kubernetes.io/provisioned-by"
ASKED = "volume.kubernetes.io/storage-provisioner"  # put on a claim by the controller manager


Object = Mapping[str, Any]


class ProvisionerSettings(Settings):
    """The runtime's settings, and where the folders lie."""

    volumes: str = ""
    """The folder that the volumes are made in."""


def waits(claim: Object) -> bool:
    """Whether the claim is for us to satisfy."""
    about = claim["metadata"]
    asked = about.get("annotations", {}).get(ASKED) == PROVISIONER
    return asked and claim["status"]["phase"] == "Pending" and "deletionTimestamp" not in about


def released(volume: Object) -> bool:
    """Whether the volume is ours, its claim is gone, and so its data is to go."""
    ours = volume["metadata"].get("annotations", {}).get(BY) == PROVISIONER
    deletes = volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
    return ours and deletes and volume["status"]["phase"] in {"Released", "Failed"}


def volume_for(claim: Object, top: Path) -> dict[str, Any]:
    """The volume for a claim, named by its uid: a claim that is made anew never gets the old one's data."""
    about, spec, name = claim["metadata"], claim["spec"], f"pvc-{claim['metadata']['uid']}"
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODE]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {BY: PROVISIONER}},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": about["namespace"],
                "name": about["name"],
                "uid": about["uid"],
            },
            "hostPath": {"path": str(top / name), "type": "DirectoryOrCreate"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec["storageClassName"],
        },
    }


class Folders:
    """The two reconcilers, over the folder `top`."""

    def __init__(self, top: Path) -> None:
        self._top = top

    async def provide(self, claim: V1PersistentVolumeClaim, ctx: Context) -> None:
        """Make the folder and the volume of a claim that waits for one."""
        wire = wire_of(claim)
        if waits(wire):
            volume = volume_for(wire, self._top)
            await asyncio.to_thread(_make, Path(volume["spec"]["hostPath"]["path"]))
            with suppress(AlreadyExistsError):
                await ctx.create(volume)

    async def reclaim(self, volume: V1PersistentVolume, ctx: Context) -> None:
        """Remove the data of a volume whose claim is gone, then the volume."""
        wire = wire_of(volume)
        if released(wire):
            name, uid = wire["metadata"]["name"], wire["metadata"]["uid"]
            await asyncio.to_thread(_remove, self._top / name)
            with suppress(NotFoundError):
                await ctx.delete(V1PersistentVolume, name, uid=uid)


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)  # pods are not root, and the node changes no owner of a hostPath


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def main() -> None:
    """Run as a program, with --kubeconfig and --volumes."""
    settings = ProvisionerSettings.unread().with_flags(sys.argv[1:], program="provisioner")
    folders = Folders(Path(settings.volumes))
    manager = Manager(settings, name="provisioner")
    manager.controller(V1PersistentVolumeClaim, folders.provide)
    manager.controller(V1PersistentVolume, folders.reclaim)
    manager.main()


if __name__ == "__main__":
    main()

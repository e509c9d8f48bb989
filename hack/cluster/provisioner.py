# SPDX-License-Identifier: Apache-2.0
"""Volumes for claims of the class `standard`: a folder of the one real node each, gone when its claim is."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import ClientError
from kubernetes.aio import client, config
from kubernetes.aio.client.exceptions import ApiException

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ("PROVISIONER", "Plan", "plan", "volume_for")

PROVISIONER = "dglop.dev/host-path"
NODE = "local-0"
BY = "pv.kubernetes.io/provisioned-by"
WANTED_OF = ("volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner")
PERIOD_SECONDS = 0.5
DONE_BEFORE = frozenset({404, 409})  # made or removed by an earlier try whose answer was lost

Object = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """The volumes to make and the names of those to remove."""

    make: list[Object]
    remove: list[str]


def name_for(claim: Mapping[str, Any]) -> str:
    """The volume's name, by the claim's uid: a claim made anew never gets the old one's data."""
    return f"pvc-{claim['metadata']['uid']}"


def volume_for(claim: Mapping[str, Any], folder: Path) -> Object:
    """The PersistentVolume for a claim."""
    about, spec = claim["metadata"], claim["spec"]
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODE]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name_for(claim), "annotations": {BY: PROVISIONER}},
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
            "hostPath": {"path": str(folder / name_for(claim)), "type": "DirectoryOrCreate"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec.get("storageClassName", ""),
        },
    }


def plan(claims: Iterable[Mapping[str, Any]], volumes: Iterable[Mapping[str, Any]], folder: Path) -> Plan:
    """What is to be done for these claims and volumes; those of others are left alone."""
    ours = [volume for volume in volumes if volume["metadata"].get("annotations", {}).get(BY) == PROVISIONER]
    there = {volume["metadata"]["name"] for volume in ours}
    return Plan(
        make=[
            volume_for(claim, folder) for claim in claims if _waits(claim) and name_for(claim) not in there
        ],
        remove=[volume["metadata"]["name"] for volume in ours if _released(volume)],
    )


def _waits(claim: Mapping[str, Any]) -> bool:
    about = claim["metadata"]
    asked = {about.get("annotations", {}).get(key) for key in WANTED_OF}
    pending = claim.get("status", {}).get("phase") == "Pending"
    return PROVISIONER in asked and pending and "deletionTimestamp" not in about


def _released(volume: Mapping[str, Any]) -> bool:
    deleted = volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
    return deleted and volume.get("status", {}).get("phase") in {"Released", "Failed"}


async def _call(api: Any, method: str, path: str, body: Object | None = None) -> Object:
    """A request in plain JSON: the client's models would cost more than the work."""
    kind = {"Accept": "application/json", "Content-Type": "application/json"}
    answer = await api.call_api(method, f"{api.configuration.host}/api/v1/{path}", kind, body)
    await answer.read()
    if answer.status >= 300 and answer.status not in DONE_BEFORE:
        raise ApiException(status=answer.status, reason=answer.reason)
    read: Object = json.loads(answer.data)
    return read


def _make_folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o777)  # pods are not root, and the node changes no owner of a hostPath


def _remove_folder(path: Path) -> None:
    if path.exists():
        shutil.rmtree(path)


async def _step(api: Any, folder: Path) -> None:
    claims = (await _call(api, "GET", "persistentvolumeclaims"))["items"]
    volumes = (await _call(api, "GET", "persistentvolumes"))["items"]
    todo = plan(claims, volumes, folder)
    for volume in todo.make:
        path = Path(volume["spec"]["hostPath"]["path"])
        await asyncio.to_thread(_make_folder, path)
        await _call(api, "POST", "persistentvolumes", volume)
        print(f"made {path.name} for {volume['spec']['claimRef']['name']}", flush=True)
    for name in todo.remove:
        await asyncio.to_thread(_remove_folder, folder / name)
        await _call(api, "DELETE", f"persistentvolumes/{name}")
        print(f"removed {name}", flush=True)


async def main(kubeconfig: str, folder: Path) -> None:
    """Look and act until the process is ended; an API server that is away is asked again."""
    loader: Any = config.load_kube_config  # it has no types
    await loader(kubeconfig)
    async with client.ApiClient() as api:
        while True:
            try:
                await _step(api, folder)
            except (ApiException, ClientError, OSError) as error:
                print(f"again in {PERIOD_SECONDS} s after {error!r}", file=sys.stderr, flush=True)
            await asyncio.sleep(PERIOD_SECONDS)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))

# SPDX-License-Identifier: Apache-2.0
"""A Manager that runs all three kinds, where the test is kubelet and garbage collector."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from dglop.common.constants import DEFAULT_CONTAINER_ANNOTATION, LABEL_JOB_NAME, POD, SECRET, SERVICE
from dglop.dgljob import DGLJob
from dglop.errors import NotFoundError
from dglop.mpijob import MPIJob
from dglop.pytorchjob import PyTorchJob
from dglop.runtime.api import Resource
from dglop.testing.builders import container_status, pod_template
from examples.xgboostjob import XGBoostJob

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.client import Client
    from dglop.runtime.manager import Manager

__all__ = ("KINDS", "KINDS_AND_ONE", "KindsWorld", "manifest")

KINDS: dict[str, Any] = {each.resource.kind: each for each in (DGLJob, PyTorchJob, MPIJob)}
KINDS_AND_ONE: dict[str, Any] = {**KINDS, "XGBoostJob": XGBoostJob}
"""The kinds of the operator, and one that a program of its own runs."""
EVENT = Resource("events.k8s.io", "v1", "Event", "events")
CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")
_SECONDS = 30.0


def manifest(kind: str, name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    """A job of a kind with a pod that decides and one Worker; a DGLJob has the first alone."""
    main = {"DGLJob": "dgl", "PyTorchJob": "pytorch", "MPIJob": "mpi", "XGBoostJob": "xgboost"}[kind]
    role = {"replicas": 1, "template": pod_template(main)}
    if kind == "DGLJob":
        body: dict[str, Any] = {"partitionMode": "Skip", "dglReplicaSpecs": {"Launcher": role}}
    elif kind == "PyTorchJob":
        body = {"pytorchReplicaSpecs": {"Master": role, "Worker": role}}
    elif kind == "XGBoostJob":
        body = {"xgbReplicaSpecs": {"Master": role, "Worker": role}}
    else:
        body = {"mpiReplicaSpecs": {"Launcher": role, "Worker": role}}
    head = {"apiVersion": KINDS_AND_ONE[kind].resource.api_version, "kind": kind}
    return {**head, "metadata": {"name": name, "namespace": namespace}, "spec": {**body, **spec}}


class KindsWorld:
    """What the Manager's cache shows, conditions to wait for, and what others write."""

    def __init__(self, manager: Manager, client: Client, namespaces: tuple[str, str]) -> None:
        self.manager = manager
        self.client = client
        self.namespace, self.other = namespaces
        self._changed = asyncio.Event()
        for kind in (*KINDS.values(), POD, SERVICE, EVENT):
            manager.cache.informer(kind).add_handler(self)

    def on_add(self, obj: Any, is_initial: bool) -> None:
        self._changed.set()

    def on_update(self, old: Any, new: Any) -> None:
        self._changed.set()

    def on_delete(self, obj: Any, final_state_unknown: bool) -> None:
        self._changed.set()

    async def until(self, what: Callable[[], Any]) -> Any:
        """The first true answer of *what*, which is asked again at every change."""
        async with asyncio.timeout(_SECONDS):
            while not (answer := what()):
                self._changed.clear()
                await self._changed.wait()
            return answer

    async def submit(self, kind: str, name: str = "g", namespace: str = "", **spec: Any) -> dict[str, Any]:
        return await self.client.create(manifest(kind, name, namespace or self.namespace, **spec))

    def job(self, kind: str, name: str = "g", namespace: str = "") -> Any:
        found = self.manager.cache.get(KINDS[kind], name, namespace or self.namespace)
        return found.to(KINDS[kind]) if found else None

    def is_true(self, condition: str, kind: str, name: str = "g", namespace: str = "") -> bool:
        job = self.job(kind, name, namespace)
        return job is not None and bool(job.status.is_true(condition))

    def pods(self, kind: str, name: str = "g", namespace: str = "") -> list[str]:
        """The names of the pods that this job owns."""
        job = self.job(kind, name, namespace)
        return sorted(each.name for each in self.owned(POD, job.uid))

    def owned(self, kind: Any, uid: str) -> list[Any]:
        return [each for each in self.manager.cache.list(kind) if each.controller_uid() == uid]

    def events(self, kind: str, reason: str) -> list[dict[str, Any]]:
        if not self.manager.cache.informer(EVENT).has_synced():
            return []
        found = [each.to_dict() for each in self.manager.cache.list(EVENT)]
        return [each for each in found if each["reason"] == reason and each["regarding"]["kind"] == kind]

    async def set_pod(self, name: str, phase: str = "Running", namespace: str = "") -> None:
        place = namespace or self.namespace
        pod = await self.client.get(POD, name, place)
        main = pod["metadata"]["annotations"][DEFAULT_CONTAINER_ANNOTATION]
        code = 0 if phase == "Succeeded" else None
        listed = [container_status(main, ready=phase == "Running", exit_code=code)]
        status = {"phase": phase, "containerStatuses": listed}
        await self.client.patch(POD, name, place, {"status": status}, subresource="status")

    async def run_all(self, kind: str, count: int, name: str = "g", namespace: str = "") -> None:
        """Wait for so many pods of a job, then let each of them run."""
        await self.until(lambda: self.job(kind, name, namespace) and self._has(kind, count, name, namespace))
        for pod in self.pods(kind, name, namespace):
            await self.set_pod(pod, namespace=namespace)
        await self.until(lambda: self.is_true("Running", kind, name, namespace))

    def _has(self, kind: str, count: int, name: str, namespace: str) -> bool:
        return len(self.pods(kind, name, namespace)) == count

    async def children(self, uid: str) -> dict[str, Any]:
        """Everything in the first namespace that belongs to the job with this UID, as the server has it."""
        found: dict[str, Any] = {}
        for kind in (POD, SERVICE, SECRET, CONFIG_MAP):
            for each in await self.client.list(kind, self.namespace, labels=LABEL_JOB_NAME):
                owners = each["metadata"].get("ownerReferences") or []
                if any(owner["uid"] == uid for owner in owners):
                    found[f"{kind.kind}/{each['metadata']['name']}"] = each
        return found

    async def remove(self, kind: str, name: str = "g") -> None:
        """Delete a job, and be the garbage collector that follows."""
        uid = self.job(kind, name).uid
        await self.client.delete(KINDS[kind].resource, name, self.namespace)
        for each in await self.children(uid):
            of = {resource.kind: resource for resource in (POD, SERVICE, SECRET, CONFIG_MAP)}
            word, _, child = each.partition("/")
            try:
                await self.client.delete(of[word], child, self.namespace, grace_seconds=0)
            except NotFoundError:
                continue

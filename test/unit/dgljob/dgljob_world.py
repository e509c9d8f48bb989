# SPDX-License-Identifier: Apache-2.0
"""A world of one job: plans are carried out on plain values, and pods do what a test says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from dglop.common.observed import Observed
from dglop.common.plan import plan
from dglop.common.views import PodView, ServiceView
from dglop.dgljob import DGLJob, DGLJobKind, KindOptions, Tokens
from dglop.dgljob.status import DGLJobStatus

T0 = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
UID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def make_kind(progress_url: str = "http://progress:8082") -> DGLJobKind:
    return DGLJobKind(KindOptions(Tokens(b"k" * 32), "operator:test", progress_url))


def template(**main: Any) -> dict[str, Any]:
    container = {"name": "dgl", "image": "dgl:test", "command": ["python3", "train.py"], **main}
    return {"spec": {"containers": [container]}}


def make_job(name: str = "g", *, specs: dict[str, Any] | None = None, **spec: Any) -> DGLJob:
    """A job as the API server would hand it out; SSP with two Workers and a data set by default."""
    if specs is None:
        specs = {"Worker": {"replicas": 2, "template": template()}}
    spec.setdefault("dataset", {"name": "digits"})
    metadata = {"name": name, "namespace": "t", "uid": UID, "generation": 1, "resourceVersion": "1"}
    return DGLJob.from_wire({"metadata": metadata, "spec": {"dglReplicaSpecs": specs, **spec}})


class World:
    """Carries out plans at once: what is created is there in the next look, what is deleted is gone."""

    def __init__(self, job: DGLJob, kind: DGLJobKind | None = None) -> None:
        self.job = job
        self.kind = kind or make_kind()
        self.now = T0
        self.pods: dict[str, dict[str, Any]] = {}
        self.services: dict[str, dict[str, Any]] = {}
        self.objects: dict[str, dict[str, Any]] = {}
        self.created: list[str] = []
        self.events: list[str] = []
        self.phases: list[str] = []
        self._uids = 0

    @property
    def observed(self) -> Observed:
        return Observed(
            pods=tuple(msgspec.convert(each, PodView, strict=False) for each in self.pods.values()),
            services=tuple(msgspec.convert(each, ServiceView) for each in self.services.values()),
        )

    def step(self) -> bool:
        """One reconcile; whether anything changed."""
        found = plan(self.job, self.observed, self.now, self.kind)
        assert isinstance(found.status, DGLJobStatus)
        before = self.job.status.to_wire()
        self.job = self.job.model_copy(update={"status": found.status})
        changed = before != found.status.to_wire()
        if found.status.phase and (not self.phases or self.phases[-1] != found.status.phase):
            self.phases.append(str(found.status.phase))
        self.events += [each.reason for each in found.events]
        for each in (*found.services, *found.objects):
            known = self.services if each["kind"] == "Service" else self.objects
            changed |= each["metadata"]["name"] not in known
            known.setdefault(each["metadata"]["name"], each)
        for gone in found.delete_pods:
            self.pods.pop(gone.name)
        for gone_service in found.delete_services:
            self.services.pop(gone_service.name, None)
        for create in found.creates:
            self._create(create.name, create.manifest)
        return changed or bool(found.creates or found.delete_pods)

    def settle(self) -> None:
        """Reconciles until nothing changes any more."""
        for _ in range(50):
            if not self.step():
                return
        raise AssertionError("the plan never comes to rest")

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def _create(self, name: str, manifest: dict[str, Any]) -> None:
        if name in self.pods:
            raise AssertionError(f"{name} is made twice")
        self._uids += 1
        manifest["metadata"]["uid"] = f"uid-{self._uids}"
        manifest["metadata"]["creationTimestamp"] = self.now.isoformat()
        self.pods[name] = {**manifest, "status": {"phase": "Pending"}}
        self.created.append(name)

    # --- what the kubelet would do ---------------------------------------------------------------------
    def run(self, name: str, *, ready: bool = False, fetched: bool = True) -> None:
        """The pod runs: its init containers are done, its containers are up."""
        pod = self.pods[name]
        inits = pod["spec"].get("initContainers", [])
        done = {"terminated": {"exitCode": 0}} if fetched else {"running": {}}
        states = [self._container(each["name"], done) for each in inits]
        started = {"running": {"startedAt": self.now.isoformat()}}
        mains = [self._container(each["name"], started, ready=ready) for each in pod["spec"]["containers"]]
        phase = "Running" if fetched else "Pending"
        pod["status"] = {
            "phase": phase,
            "initContainerStatuses": states,
            "containerStatuses": mains if fetched else [],
        }

    def end(self, name: str, code: int = 0, message: str = "", *, container: str = "") -> None:
        """The main container ends; the pod with it, unless others run on."""
        status = self.pods[name]["status"]
        main = self.pods[name]["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"]
        for each in status["containerStatuses"]:
            if each["name"] == (container or main):
                each["ready"] = False
                each["state"] = {
                    "terminated": {
                        "exitCode": code,
                        "message": message,
                        "reason": "Error" if code else "Completed",
                        "finishedAt": self.now.isoformat(),
                    }
                }
        codes = [each["state"].get("terminated", {}).get("exitCode") for each in status["containerStatuses"]]
        if None not in codes:
            status["phase"] = "Failed" if any(codes) else "Succeeded"

    def ready(self, name: str, container: str) -> None:
        for each in self.pods[name]["status"]["containerStatuses"]:
            if each["name"] == container:
                each["ready"] = True

    @staticmethod
    def _container(name: str, state: dict[str, Any], *, ready: bool = False) -> dict[str, Any]:
        return {"name": name, "state": state, "ready": ready}

    # --- whole stages ----------------------------------------------------------------------------------
    def partition(self, manifest: str = "abc", pod: str = "g-partitioner-0") -> None:
        """The Partitioner does its work, and serves where it must."""
        self.settle()
        self.run(pod)
        self.settle()
        said = {
            "manifest": manifest,
            "parts": 2,
            "bytes": 1000,
            "nodes": 1797,
            "edges": 28410,
            "edgeCut": 1165,
        }
        self.end(pod, 0, msgspec.json.encode(said).decode())
        if any(each["name"] == "dglrun-serve" for each in self.pods[pod]["spec"]["containers"]):
            self.settle()
            self.ready(pod, "dglrun-serve")
        self.settle()

    def train(self) -> None:
        """All Workers that are there fetch, meet and train."""
        workers = [name for name in self.pods if "-worker-" in name]
        for name in workers:
            self.run(name, fetched=False)
        self.settle()
        for name in workers:
            self.run(name)
        self.settle()
        for name in workers:
            self.ready(name, "dgl")
        self.settle()

    def finish(self) -> None:
        for name in [name for name in self.pods if "-worker-" in name]:
            self.end(name)
        self.settle()

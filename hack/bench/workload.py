# SPDX-License-Identifier: Apache-2.0
"""Jobs whose pods live on the fake node: they run at once and succeed a second later."""

from __future__ import annotations

from typing import Any

__all__ = ("CLAIM", "JOB_LABEL", "PODS_EACH", "dgl_job", "parts_volume", "plain_pod", "pytorch_job")

CLAIM = "parts"
JOB_LABEL = "training.kubeflow.org/job-name"  # the same word in training-operator and here
PODS_EACH = 3

_RUNTIME = {"dglop.dev/fake-runtime": "1s"}  # hack/cluster/kwok.yaml: Running for so long, then Succeeded
_IMAGE = "dglop.local/never-pulled"


def dgl_job(name: str, namespace: str, workers: int = PODS_EACH) -> dict[str, Any]:
    """Workers at once on parts that are there already: nothing is partitioned or fetched."""
    return {
        "apiVersion": "kubeflow.org/v1alpha1",
        "kind": "DGLJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "partitionMode": "Skip",
            "storage": {"type": "PVC", "claimName": CLAIM, "existing": True},
            "dglReplicaSpecs": {"Worker": {"replicas": workers, "template": _template("dgl")}},
        },
    }


def pytorch_job(name: str, namespace: str) -> dict[str, Any]:
    """A master and two workers, everything else as training-operator sets it."""
    master = {"replicas": 1, "restartPolicy": "OnFailure", "template": _template("pytorch")}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"pytorchReplicaSpecs": {"Master": master, "Worker": {**master, "replicas": PODS_EACH - 1}}},
    }


def plain_pod(job: str, index: int, namespace: str) -> dict[str, Any]:
    """One of the pods that a job would have, made by no operator."""
    template = _template("main")
    metadata = {"name": f"{job}-worker-{index}", "namespace": namespace, "labels": {JOB_LABEL: job}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template["metadata"], **metadata},
        "spec": {**template["spec"], "restartPolicy": "Never"},
    }


def parts_volume(namespace: str) -> list[dict[str, Any]]:
    """A claim and the volume that it is bound to; no pod of the fake node ever mounts it."""
    size = {"storage": "1Gi"}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-{CLAIM}"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "capacity": size,
            "claimRef": {"name": CLAIM, "namespace": namespace},
            "hostPath": {"path": "/nonexistent"},
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": CLAIM, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": size},
            "storageClassName": "",
            "volumeName": f"{namespace}-{CLAIM}",
        },
    }
    return [volume, claim]


def _template(container: str) -> dict[str, Any]:
    return {
        "metadata": {"annotations": dict(_RUNTIME)},
        "spec": {
            "nodeSelector": {"type": "kwok"},
            "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists", "effect": "NoSchedule"}],
            "containers": [{"name": container, "image": _IMAGE, "command": ["true"]}],
        },
    }

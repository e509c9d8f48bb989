# SPDX-License-Identifier: Apache-2.0
"""Pods as a cluster has them: 4.4 KB each, with probes, mounts, environment and tolerations."""

from __future__ import annotations

import hashlib
from typing import Any

__all__ = ("APPS", "NAMESPACES", "ROUND", "pod")

NAMESPACES = 10
APPS = 200
ROUND = "bench.dglop.dev/round"
"""The annotation that every round of changes sets."""

_TIERS = ("frontend", "backend", "batch", "storage")
_ENV = (
    "LOG_LEVEL",
    "DATABASE_URL",
    "CACHE_SERVERS",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "FEATURE_FLAGS",
    "REGION",
    "QUEUE_NAME",
)


def pod(number: int) -> dict[str, Any]:
    """The pod with this number, always the same."""
    app = f"app-{number % APPS:03}"
    template = hashlib.sha256(app.encode()).hexdigest()  # what all replicas have in common
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{app}-{template[:10]}-{number:05}",
            "namespace": f"bench-{number % NAMESPACES}",
            "labels": {
                "app": app,
                "tier": _TIERS[number % len(_TIERS)],
                "pod-template-hash": template[:10],
                "app.kubernetes.io/managed-by": "Helm",
            },
            "annotations": {"team": f"team-{number % 37}", "checksum/config": template, ROUND: "0"},
            "ownerReferences": [_owner(app, template)],
        },
        "spec": {
            "nodeName": f"node-{number % 500:03}",
            "containers": [_container(app, template, digest)],
            "volumes": [{"name": "config", "configMap": {"name": f"{app}-config"}}],
        },
    }


def _owner(app: str, digest: str) -> dict[str, Any]:
    uid = hashlib.sha256(app.encode()).hexdigest()
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"{app}-{digest[:10]}",
        "uid": f"{uid[:8]}-{uid[8:12]}-{uid[12:16]}-{uid[16:20]}-{uid[20:32]}",
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _container(app: str, template: str, digest: str) -> dict[str, Any]:
    return {
        "name": "main",
        "image": f"registry.example.dev/{app}@sha256:{template}",
        "args": ["--listen=0.0.0.0:8080", f"--name={app}"],
        "env": [{"name": key, "value": f"{key.lower()}-{digest[:12]}"} for key in _ENV],
        "ports": [{"name": "http", "containerPort": 8080}],
        "resources": {
            "requests": {"cpu": "250m", "memory": "256Mi"},
            "limits": {"cpu": "1", "memory": "512Mi"},
        },
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/config", "readOnly": True}],
    }

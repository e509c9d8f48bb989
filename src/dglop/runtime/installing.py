# SPDX-License-Identifier: Apache-2.0
"""Everything that puts a program with a Manager into a cluster, as manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.errors import ConfigError
from dglop.runtime.api import crd_manifest
from dglop.runtime.bind import parse_bind
from dglop.runtime.controller import Controller
from dglop.runtime.crdinstall import versions_of
from dglop.runtime.names import image_problem, is_object_name, namespace_problem
from dglop.runtime.webhook import parse_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.runtime.manager import Manager

__all__ = ("install_manifests",)

_USER = 65532
_LABEL_LENGTH = 63
_NAMED = (
    "cannot be that of objects: write a-z, 0-9, - and dots between them, 63 at most, in Manager(name=...)"
)
_PROBES = {"livenessProbe": "/healthz", "readinessProbe": "/readyz"}


def install_manifests(
    manager: Manager, *, home: str, image: str = "", replicas: int = 1, flags: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """
    What *manager* needs in a cluster, in an order in which it can be applied.

    That is the namespace *home*, the CRDs of its kinds, with a `webhook_target` what leads to its webhooks, a
    service account and its rights, and with an *image* a Deployment that runs it with *flags*, without root
    rights and on a read-only root. The settings of the manager should be those that *flags* make.

    Raises ConfigError for what the API server would refuse: a name, an image or a number of *replicas*.
    """
    _check(manager, home, image, replicas)
    labels = {"app.kubernetes.io/name": manager.name}
    found = [
        _namespace(home),
        *_definitions(manager),
        _manifest("v1", "ServiceAccount", manager.name, home, labels),
        *manager.rights(home),
    ]
    if image:
        deployment = _manifest("apps/v1", "Deployment", manager.name, home, labels)
        deployment["spec"] = {
            "replicas": replicas,
            "selector": {"matchLabels": dict(labels)},
            "template": {"metadata": {"labels": dict(labels)}, "spec": _pod(manager, image, flags)},
        }
        found.append(deployment)
    return found


def _check(manager: Manager, home: str, image: str, replicas: int) -> None:
    problems = {
        "--home": namespace_problem(home),
        "--image": image_problem(image) if image else "",
        "--replicas": f"{replicas} is no number of pods; give 0 or more" if replicas < 0 else "",
        "the Manager's name": "" if _is_name(manager.name) else f"{manager.name!r} {_NAMED}",
    }
    if found := [f"{what}: {problem}" for what, problem in problems.items() if problem]:
        raise ConfigError("; ".join(found))


def _is_name(name: str) -> bool:
    """Whether objects and the label of pods can have it."""
    return is_object_name(name) and len(name) <= _LABEL_LENGTH


def _namespace(name: str) -> dict[str, Any]:
    return _manifest("v1", "Namespace", name, "", {"pod-security.kubernetes.io/enforce": "restricted"})


def _definitions(manager: Manager) -> list[dict[str, Any]]:
    kinds = [each.kind for each in manager.controllers if isinstance(each, Controller)]
    found = [crd_manifest(*versions) for versions in versions_of(kinds)]
    if manager.settings.webhook_target:
        target = parse_target(manager.settings.webhook_target)
        found += [*manager.webhooks.crds(target), *manager.webhooks.manifests(target, name=manager.name)]
    # A CRD whose versions are converted takes the place of what its classes alone would say.
    return list({(each["kind"], each["metadata"]["name"]): each for each in found}.values())


def _pod(manager: Manager, image: str, flags: Sequence[str]) -> dict[str, Any]:
    settings = manager.settings
    pod: dict[str, Any] = {
        "serviceAccountName": manager.name,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(manager, image, flags)],
    }
    if settings.graceful_shutdown_seconds < 3600:
        pod["terminationGracePeriodSeconds"] = int(settings.graceful_shutdown_seconds) + 10
    return pod


def _container(manager: Manager, image: str, flags: Sequence[str]) -> dict[str, Any]:
    settings = manager.settings
    container: dict[str, Any] = {
        "name": "manager",
        "image": image,
        "args": list(flags),
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    ports = {"metrics": parse_bind(settings.metrics_bind), "health": parse_bind(settings.health_bind)}
    if manager.webhooks:
        ports["webhook"] = parse_bind(settings.webhook_bind)
    listed = [{"name": name, "containerPort": bind[1]} for name, bind in ports.items() if bind]
    if listed:
        container["ports"] = listed
    if ports["health"]:
        container |= {name: {"httpGet": {"path": path, "port": "health"}} for name, path in _PROBES.items()}
    return container


def _manifest(api: str, kind: str, name: str, namespace: str, labels: dict[str, str]) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **place, "labels": dict(labels)}}

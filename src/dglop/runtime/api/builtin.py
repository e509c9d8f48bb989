# SPDX-License-Identifier: Apache-2.0
"""The built-in resources that have an official model, by the model's class name."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ("BUILTIN",)

_Entry = tuple[str, str, str, str, bool]

# One line a group: version, then kinds (plural where it is not kind + s; a leading / marks cluster scope).
_GROUPS: tuple[tuple[str, str, str, str], ...] = (
    (
        "",
        "v1",
        "V1",
        (
            "Pod Service Secret ConfigMap ServiceAccount PersistentVolumeClaim Endpoints:endpoints Event "
            "PodTemplate ReplicationController ResourceQuota LimitRange Binding /Namespace /Node "
            "/PersistentVolume"
        ),
    ),
    ("apps", "v1", "V1", "Deployment StatefulSet DaemonSet ReplicaSet ControllerRevision"),
    ("batch", "v1", "V1", "Job CronJob"),
    ("coordination.k8s.io", "v1", "V1", "Lease"),
    ("rbac.authorization.k8s.io", "v1", "V1", "Role RoleBinding /ClusterRole /ClusterRoleBinding"),
    ("events.k8s.io", "v1", "Events", "Event"),
    ("apiextensions.k8s.io", "v1", "V1", "/CustomResourceDefinition"),
    (
        "networking.k8s.io",
        "v1",
        "V1",
        "NetworkPolicy:networkpolicies Ingress:ingresses /IngressClass:ingressclasses",
    ),
    ("scheduling.k8s.io", "v1", "V1", "/PriorityClass:priorityclasses"),
    ("storage.k8s.io", "v1", "V1", "/StorageClass:storageclasses /CSIDriver /CSINode /VolumeAttachment"),
    ("discovery.k8s.io", "v1", "V1", "EndpointSlice"),
    ("policy", "v1", "V1", "PodDisruptionBudget"),
    ("autoscaling", "v2", "V2", "HorizontalPodAutoscaler"),
    ("authentication.k8s.io", "v1", "V1", "/TokenReview"),
    ("authorization.k8s.io", "v1", "V1", "/SubjectAccessReview /SelfSubjectAccessReview"),
    (
        "admissionregistration.k8s.io",
        "v1",
        "V1",
        (
            "/ValidatingWebhookConfiguration /MutatingWebhookConfiguration "
            "/ValidatingAdmissionPolicy:validatingadmissionpolicies /ValidatingAdmissionPolicyBinding"
        ),
    ),
)


def _table() -> dict[str, _Entry]:
    table: dict[str, _Entry] = {}
    for group, version, prefix, kinds in _GROUPS:
        for word in kinds.split():
            name, _, plural = word.lstrip("/").partition(":")
            entry = (group, version, name, plural or name.lower() + "s", not word.startswith("/"))
            # Two groups have an Event; the official client calls them CoreV1Event and EventsV1Event.
            model = f"{prefix}{version.upper()}{name}" if prefix == "Events" else prefix + name
            table[model] = entry
    table["CoreV1Event"] = table.pop("V1Event")
    return table


BUILTIN = MappingProxyType(_table())
"""Model class name → (group, version, kind, plural, namespaced)."""

# SPDX-License-Identifier: Apache-2.0
"""Cases: what the server knows of built-in kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from test.envtest.conformance.objects import page, pod, service

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api


async def immutable_data_stays(api: Api) -> None:
    await api.post("configmaps", {**page(a="1"), "immutable": True})
    await api.merge("configmaps", "page", {"data": {"a": "2"}})


async def a_pods_spec_is_mostly_fixed(api: Api) -> None:
    await api.post("pods", pod())
    await api.json_patch(
        "pods", "pod", [{"op": "replace", "path": "/spec/containers/0/image", "value": "b:2"}]
    )
    await api.merge("pods", "pod", {"spec": {"restartPolicy": "Never"}}, quiet=True)
    await api.get("pods", "pod")


async def a_namespace_is_born_active(api: Api) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "gen-"}}
    made: Any = await api.post("namespaces", body)
    await api.delete("namespaces", made["metadata"]["name"], quiet=True)


async def a_service_gets_its_defaults(api: Api) -> None:
    await api.post("services", service())
    await api.post("services", service("bare", clusterIP="None"))


async def a_secrets_string_data_becomes_data(api: Api) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}
    await api.post("secrets", secret)
    await api.merge("secrets", "s", {"stringData": {"c": "d"}})


async def a_lease_keeps_its_micro_time(api: Api) -> None:
    spec = {"holderIdentity": "me", "renewTime": "2026-01-01T00:00:00.000000Z", "leaseDurationSeconds": 15}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": spec}
    await api.post("leases", lease)
    made = await api.get("leases", "l")
    assert made["spec"]["renewTime"] == "2026-01-01T00:00:00.000000Z"


async def built_in_kinds_get_their_defaults(api: Api) -> None:
    labels = {"matchLabels": {"app": "web"}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]}
    once = {**template, "spec": {**pod()["spec"], "restartPolicy": "Never"}}
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    repeated = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": once}}}
    for group, kind, plural, spec in (
        ("apps", "StatefulSet", "statefulsets", {"selector": labels, "template": template}),
        ("apps", "DaemonSet", "daemonsets", {"selector": labels, "template": template}),
        ("apps", "ReplicaSet", "replicasets", {"selector": labels, "template": template}),
        ("batch", "CronJob", "cronjobs", repeated),
        ("", "PersistentVolumeClaim", "persistentvolumeclaims", storage),
        ("policy", "PodDisruptionBudget", "poddisruptionbudgets", {"minAvailable": 1, "selector": labels}),
        ("networking.k8s.io", "NetworkPolicy", "networkpolicies", {"podSelector": labels, "ingress": []}),
        ("", "ResourceQuota", "resourcequotas", {"hard": {"pods": "3"}}),
    ):
        head = {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind}
        place = f"/apis/{group}/v1" if group else "/api/v1"
        body = {**head, "metadata": {"name": "x"}, "spec": spec}
        await api.send("POST", f"{place}/namespaces/{{ns}}/{plural}", body)


async def a_job_gets_its_defaults_and_its_selector(api: Api) -> None:
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    head: dict[str, Any] = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}
    await api.post("jobs", {**head, "spec": {"template": template}})
    await api.merge("jobs", "j", {"spec": {"suspend": True}})


async def kinds_without_a_spec_are_kept_as_they_are(api: Api) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}"
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    head = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "x:y"}}
    await api.send("POST", f"{rbac}/roles", {**head, "kind": "Role", "rules": rules})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "x:y"}
    subjects = [{"kind": "ServiceAccount", "name": "a", "namespace": "b"}]
    binding = {**head, "kind": "RoleBinding", "roleRef": reference, "subjects": subjects}
    await api.send("POST", f"{rbac}/rolebindings", binding)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}
    await api.send("POST", "/api/v1/namespaces/{ns}/serviceaccounts", account)


CASES = (
    immutable_data_stays,
    a_pods_spec_is_mostly_fixed,
    a_namespace_is_born_active,
    a_service_gets_its_defaults,
    a_secrets_string_data_becomes_data,
    a_lease_keeps_its_micro_time,
    built_in_kinds_get_their_defaults,
    a_job_gets_its_defaults_and_its_selector,
    kinds_without_a_spec_are_kept_as_they_are,
)

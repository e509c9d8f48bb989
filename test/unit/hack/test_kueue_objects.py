# SPDX-License-Identifier: Apache-2.0
"""What of Kueue's manifests is installed for a process beside the cluster, and the overlay that uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from hack.cluster.binaries import TOOLS
from hack.crds import KUEUE
from hack.kueue import kueue_config, kueue_objects
from hack.overlay import overlay_with

if TYPE_CHECKING:
    from pathlib import Path


def hook(name, group):
    client = {"service": {"name": "kueue-webhook-service", "namespace": "kueue-system"}}
    return {"name": name, "clientConfig": client, "rules": [{"apiGroups": [group]}]}


SHIPPED = [
    {"kind": "Deployment", "metadata": {"name": "kueue-controller-manager"}},
    {"kind": "Service", "metadata": {"name": "kueue-webhook-service"}},
    {"kind": "APIService", "metadata": {"name": "v1beta2.visibility.kueue.x-k8s.io"}},
    {"kind": "ClusterRole", "metadata": {"name": "kueue-manager-role"}},
    {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "workloads.kueue.x-k8s.io"},
        "spec": {"conversion": {"webhook": {"clientConfig": {"service": {"name": "kueue-webhook-service"}}}}},
    },
    {"kind": "CustomResourceDefinition", "metadata": {"name": "topologies.kueue.x-k8s.io"}, "spec": {}},
    {
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "kueue-mutating-webhook-configuration"},
        "webhooks": [hook("mpod.kb.io", ""), hook("mworkload.kb.io", "kueue.x-k8s.io")],
    },
]


def installed():
    return {
        (each["kind"], each["metadata"]["name"]): each
        for each in kueue_objects(yaml.safe_dump_all(SHIPPED), port=1234)
    }


def test_the_process_takes_the_place_of_what_would_run_in_the_cluster():
    kinds = [kind for kind, _ in installed()]
    assert "Deployment" not in kinds
    assert "APIService" not in kinds
    assert ("ClusterRole", "kueue-manager-role") in installed()


def test_the_server_finds_the_process_by_a_service_that_means_its_own_machine():
    service = installed()["Service", "kueue-webhook-service"]
    assert service["spec"] == {"type": "ExternalName", "externalName": "localhost"}
    crd = installed()["CustomResourceDefinition", "workloads.kueue.x-k8s.io"]
    assert crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"] == 1234


def test_only_the_webhooks_for_its_own_kinds_are_called():
    (only,) = installed()["MutatingWebhookConfiguration", "kueue-mutating-webhook-configuration"]["webhooks"]
    assert only["name"] == "mworkload.kb.io"
    assert only["clientConfig"]["service"]["port"] == 1234


def test_it_is_told_of_our_kinds_and_listens_on_loopback_only(tmp_path: Path):
    config = kueue_config(tmp_path, kinds=["DGLJob.v1alpha1.kubeflow.org"], health=1, webhook=2)
    assert config["integrations"]["externalFrameworks"] == ["DGLJob.v1alpha1.kubeflow.org"]
    assert config["health"]["healthProbeBindAddress"] == "127.0.0.1:1"
    assert config["webhook"] == {"port": 2, "certDir": str(tmp_path / "certs")}


def test_the_program_and_the_crds_are_of_one_version():
    assert TOOLS["kueue"].version == KUEUE.version


@pytest.mark.parametrize("component", ["volcano", "scheduler-plugins", "kueue"])
@pytest.mark.parametrize("overlay", ["default", "namespaced"])
def test_a_component_is_named_in_the_overlay_as_its_comments_say(
    tmp_path: Path, component: str, overlay: str
):
    kustomization = yaml.safe_load(
        (overlay_with(tmp_path, component, overlay=overlay) / "kustomization.yaml").read_text()
    )
    assert kustomization["components"] == [f"../components/{component}"]


def test_a_component_that_the_overlay_does_not_know_is_told(tmp_path: Path):
    with pytest.raises(ValueError, match="says nothing of components/slurm"):
        overlay_with(tmp_path, "slurm")

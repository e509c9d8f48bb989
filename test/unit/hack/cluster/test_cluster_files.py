# SPDX-License-Identifier: Apache-2.0
"""What is written for the parts: settings, certificates, images, volumes."""

from __future__ import annotations

import io
import json
import tarfile
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
import yaml

from hack.cluster import pki
from hack.cluster.bringup import ready_nodes
from hack.cluster.config import config_files
from hack.cluster.errors import ClusterError
from hack.cluster.image import PAUSE_IMAGE, architecture, archive, name_in
from hack.cluster.parts import CONTROL_PLANE, NODE_PARTS, parts
from hack.cluster.paths import SOURCES, Paths
from hack.cluster.provisioner import ASKED, BY, PROVISIONER, released, volume_for, waits
from hack.cluster.settings import PORTS_OF, Ports, Settings, settings_from

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CACHE = Paths(Path("/cache"))
FILES = config_files(CACHE, Settings(), Path("/cni"), "nameserver 192.0.2.1")


def test_the_kubelet_runs_on_cgroup_v1_and_never_collects_images() -> None:
    kubelet = yaml.safe_load(FILES["kubelet.yaml"])
    assert kubelet["failCgroupV1"] is False
    assert kubelet["enforceNodeAllocatable"] == []
    assert kubelet["imageGCHighThresholdPercent"] == 100
    assert kubelet["evictionHard"]["nodefs.available"] == "1%"


def test_containerd_keeps_to_its_own_folders_and_to_the_projects_pause_image() -> None:
    text = FILES["containerd.toml"]
    assert f'sandbox_image = "{PAUSE_IMAGE}"' in text
    assert "restrict_oom_score_adj = true" in text
    assert 'root = "/cache/containerd"' in text
    assert "/var/lib" not in text


def test_pods_get_addresses_and_names_from_the_bridge() -> None:
    plugins = json.loads(FILES["cni/10-dglop.conflist"])["plugins"]
    assert [plugin["type"] for plugin in plugins] == ["bridge", "portmap"]
    assert plugins[0]["ipam"]["ranges"] == [[{"subnet": "10.244.0.0/24", "gateway": "10.244.0.1"}]]
    assert "bind 10.244.0.1" in FILES["Corefile"]


@pytest.mark.parametrize(("resolv", "asks"), [("nameserver 192.0.2.1", True), ("# none", False), ("", False)])
def test_foreign_names_are_asked_for_only_where_the_host_knows_whom(resolv: str, asks: bool) -> None:
    text = config_files(CACHE, Settings(), Path("/cni"), resolv)["Corefile"]
    assert ("forward" in text) is asks


def test_every_part_has_a_place_in_the_order_and_every_port_an_owner() -> None:
    made = parts(CACHE, Settings(), lambda name: Path("/bin") / name, "/usr/bin/containerd")
    assert set(made) == {*CONTROL_PLANE, *NODE_PARTS}
    assert {port for ports in PORTS_OF.values() for port in ports} == set(vars(Ports()))


def test_a_moved_port_reaches_those_who_listen_and_those_who_call() -> None:
    moved = settings_from({"DGLOP_PORT_ETCD": "7001", "DGLOP_PORT_APISERVER": "7002"})
    made = parts(CACHE, moved, Path, "containerd")
    assert any("listen-client-urls=https://127.0.0.1:7001" in flag for flag in made["etcd"].argv)
    assert "--etcd-servers=https://127.0.0.1:7001" in made["kube-apiserver"].argv
    assert made["kube-apiserver"].health == "https://10.244.0.1:7002/readyz"
    assert moved.server == "https://10.244.0.1:7002"


def test_certificates_are_kept_until_they_are_about_to_end(tmp_path: Path) -> None:
    pki.ensure_pki(tmp_path, Settings(), NOW)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    pki.ensure_pki(tmp_path, Settings(), NOW + timedelta(days=300))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first
    pki.ensure_pki(tmp_path, Settings(), NOW + pki.YEARS)
    assert all(path.read_bytes() != first[path.name] for path in tmp_path.iterdir())


def test_a_certificate_is_renewed_when_its_names_change_and_others_are_kept(tmp_path: Path) -> None:
    pki.ensure_pki(tmp_path, Settings(), NOW)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    pki.ensure_pki(tmp_path, Settings(services=IPv4Network("10.97.0.0/16")), NOW)
    changed = {path.name for path in tmp_path.iterdir() if path.read_bytes() != before[path.name]}
    assert changed == {"apiserver.crt", "apiserver.key"}


def test_a_broken_certificate_is_made_anew(tmp_path: Path) -> None:
    pki.ensure_pki(tmp_path, Settings(), NOW)
    (tmp_path / "admin.crt").write_text("half")
    pki.ensure_pki(tmp_path, Settings(), NOW)
    assert "BEGIN CERTIFICATE" in (tmp_path / "admin.crt").read_text()


def test_keys_are_read_by_their_owner_alone(tmp_path: Path) -> None:
    pki.ensure_pki(tmp_path, Settings(), NOW)
    assert {path.stat().st_mode & 0o77 for path in tmp_path.glob("*.key")} == {0}


def test_a_kubeconfig_names_no_file() -> None:
    written = yaml.safe_load(pki.kubeconfig("https://s", b"ca", b"crt", b"key"))
    assert written["clusters"][0]["cluster"] == {"server": "https://s", "certificate-authority-data": "Y2E="}
    assert set(written["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}


def test_the_pause_image_is_the_same_bytes_for_the_same_program(tmp_path: Path) -> None:
    archive(b"program", tmp_path / "a.tar")
    archive(b"program", tmp_path / "b.tar")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
    assert name_in(tmp_path / "a.tar") == PAUSE_IMAGE


def _tar(path: Path, name: str, content: object) -> Path:
    data = json.dumps(content).encode()
    with tarfile.open(path, "w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    return path


def test_the_name_in_an_oci_archive_is_found(tmp_path: Path) -> None:
    index = {"manifests": [{"annotations": {"org.opencontainers.image.ref.name": "dglop.local/a:1"}}]}
    assert name_in(_tar(tmp_path / "a.tar", "index.json", index)) == "dglop.local/a:1"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("index.json", {"manifests": [{}]}, "0 named images"),
        ("manifest.json", [{"RepoTags": ["a", "b"]}], "2 named images"),
        ("other.json", {}, "no image archive"),
    ],
)
def test_an_archive_without_one_name_is_refused(
    tmp_path: Path, name: str, content: object, says: str
) -> None:
    with pytest.raises(ClusterError, match=says):
        name_in(_tar(tmp_path / "a.tar", name, content))


def test_what_is_no_archive_or_not_there_is_told_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_text("text")
    with pytest.raises(ClusterError, match="build it again"):
        name_in(tmp_path / "a.tar")
    with pytest.raises(ClusterError, match="build it first"):
        name_in(tmp_path / "b.tar")


def test_processors_go_by_the_names_that_images_use() -> None:
    assert [architecture(name) for name in ("x86_64", "aarch64", "s390x")] == ["amd64", "arm64", ""]


def test_only_nodes_that_say_so_are_ready() -> None:
    def node(name: str, status: str) -> dict[str, object]:
        conditions = [{"type": "Ready", "status": status}]
        return {"metadata": {"name": name}, "status": {"conditions": conditions}}

    listed = {"items": [node("a", "True"), node("b", "Unknown"), {"metadata": {"name": "c"}}]}
    assert ready_nodes(json.dumps(listed)) == {"a"}


def _claim(phase: str = "Pending", asked: str = PROVISIONER) -> dict[str, Any]:
    return {
        "metadata": {"name": "c", "namespace": "n", "uid": "1", "annotations": {ASKED: asked}},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "standard",
        },
        "status": {"phase": phase},
    }


def _volume(phase: str, by: str = PROVISIONER, policy: str = "Delete") -> dict[str, Any]:
    return {
        "metadata": {"name": "a", "annotations": {BY: by}},
        "spec": {"persistentVolumeReclaimPolicy": policy},
        "status": {"phase": phase},
    }


def test_only_a_pending_claim_that_asks_for_us_waits() -> None:
    assert waits(_claim())
    assert not waits(_claim(phase="Bound"))
    assert not waits(_claim(asked="other"))
    assert not waits({"metadata": {"name": "c"}, "spec": {}, "status": {"phase": "Pending"}})


def test_a_claim_gets_a_volume_of_its_own_by_its_uid() -> None:
    volume = volume_for(_claim(), Path("/v"))
    assert volume["spec"]["hostPath"]["path"] == "/v/pvc-1"
    assert volume["spec"]["claimRef"]["uid"] == "1"
    assert volume["spec"]["accessModes"] == ["ReadWriteMany"]
    assert volume["spec"]["capacity"] == {"storage": "1Gi"}


def test_only_our_released_volumes_lose_their_data() -> None:
    assert released(_volume("Released"))
    assert not released(_volume("Bound"))
    assert not released(_volume("Released", by="other"))
    assert not released(_volume("Released", policy="Retain"))


def test_the_fake_node_takes_no_pod_that_does_not_ask_for_it() -> None:
    node = yaml.safe_load((SOURCES / "fake-node.yaml").read_text())
    assert node["spec"]["taints"] == [{"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}]


def test_the_default_storage_class_deletes_what_is_no_longer_claimed() -> None:
    documents = yaml.safe_load_all((SOURCES / "addons.yaml").read_text())
    found = [document for document in documents if document["kind"] == "StorageClass"]
    assert [(each["metadata"]["name"], each["provisioner"], each["reclaimPolicy"]) for each in found] == [
        ("standard", PROVISIONER, "Delete")
    ]

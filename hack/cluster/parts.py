# SPDX-License-Identifier: Apache-2.0
"""The processes of the local cluster: their order, their commands, and how each tells that it is ready."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hack.cluster.paths import SOURCES
from hack.cluster.settings import NODE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hack.cluster.paths import Paths
    from hack.cluster.settings import Settings

__all__ = ("CONTROL_PLANE", "NODE_PARTS", "Part", "kwok", "parts")

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
NODE_PARTS = ("containerd", "kubelet", "kube-proxy", "coredns", "kwok", "provisioner")


@dataclass(frozen=True)
class Part:
    """A process and the address that answers 200 when it is ready; empty where something else tells."""

    name: str
    argv: tuple[str, ...]
    health: str = ""
    env: tuple[tuple[str, str], ...] = ()


def parts(
    paths: Paths, settings: Settings, program: Callable[[str], Path], containerd: str
) -> dict[str, Part]:
    """Every part by name. `program` gives the file of a built program."""
    made = [
        _etcd(paths, settings, program),
        _apiserver(paths, settings, program),
        *_controllers(paths, settings, program),
        Part("containerd", (containerd, "--config", str(paths.config / "containerd.toml"))),
        *_agents(paths, settings, program),
        kwok(paths.config / "kwok.kubeconfig", settings, program),
        _provisioner(paths, settings),
    ]
    return {part.name: part for part in made}


def _flags(program: Path, **flags: object) -> tuple[str, ...]:
    return (str(program), *(f"--{name.replace('_', '-')}={value}" for name, value in flags.items()))


def _pair(paths: Paths, name: str) -> tuple[Path, Path]:
    return paths.pki / f"{name}.crt", paths.pki / f"{name}.key"


def _etcd(paths: Paths, settings: Settings, program: Callable[[str], Path]) -> Part:
    url = f"https://127.0.0.1:{settings.ports.etcd}"
    peer = f"http://127.0.0.1:{settings.ports.etcd_peer}"
    certificate, key = _pair(paths, "etcd")
    argv = _flags(
        program("etcd"),
        name="local",
        data_dir=paths.etcd,
        listen_client_urls=url,
        advertise_client_urls=url,
        listen_peer_urls=peer,
        initial_advertise_peer_urls=peer,
        initial_cluster=f"local={peer}",
        cert_file=certificate,
        key_file=key,
        client_cert_auth="true",
        trusted_ca_file=paths.pki / "ca.crt",
        unsafe_no_fsync="true",  # the data is for tests: a fresh cluster after a crash is what is wanted
        log_level="warn",
    )
    return Part("etcd", argv)


def _apiserver(paths: Paths, settings: Settings, program: Callable[[str], Path]) -> Part:
    pki = paths.pki
    certificate, key = _pair(paths, "apiserver")
    etcd_certificate, etcd_key = _pair(paths, "apiserver-etcd")
    kubelet_certificate, kubelet_key = _pair(paths, "apiserver-kubelet")
    argv = _flags(
        program("kube-apiserver"),
        advertise_address=settings.gateway,
        bind_address=settings.gateway,  # reached from pods and from the host, not from the network outside
        secure_port=settings.ports.apiserver,
        allow_privileged="true",
        authorization_mode="Node,RBAC",
        enable_admission_plugins="NodeRestriction",
        client_ca_file=pki / "ca.crt",
        etcd_servers=f"https://127.0.0.1:{settings.ports.etcd}",
        etcd_cafile=pki / "ca.crt",
        etcd_certfile=etcd_certificate,
        etcd_keyfile=etcd_key,
        kubelet_client_certificate=kubelet_certificate,
        kubelet_client_key=kubelet_key,
        kubelet_certificate_authority=pki / "ca.crt",
        kubelet_preferred_address_types="InternalIP",
        service_account_issuer=f"https://kubernetes.default.svc.{settings.domain}",
        service_account_key_file=pki / "service-account.pub",
        service_account_signing_key_file=pki / "service-account.key",
        service_cluster_ip_range=settings.services,
        tls_cert_file=certificate,
        tls_private_key_file=key,
        **_front_proxy(paths),
        profiling="false",
    )
    # Garbage is collected at four times the live heap, some 100 MB, and not at twice: it is a good tenth of
    # the CPU of hundreds of pods.
    return Part("kube-apiserver", argv, f"{settings.server}/readyz", (("GOGC", "300"),))


def _front_proxy(paths: Paths) -> dict[str, object]:
    """What aggregated API servers, such as a metrics server, would trust the API server by."""
    certificate, key = _pair(paths, "front-proxy")
    return {
        "requestheader_client_ca_file": paths.pki / "ca.crt",
        "requestheader_allowed_names": "front-proxy",
        "requestheader_username_headers": "X-Remote-User",
        "requestheader_group_headers": "X-Remote-Group",
        "requestheader_extra_headers_prefix": "X-Remote-Extra-",
        "proxy_client_cert_file": certificate,
        "proxy_client_key_file": key,
    }


def _controllers(paths: Paths, settings: Settings, program: Callable[[str], Path]) -> list[Part]:
    kubeconfig = paths.config / "controller-manager.kubeconfig"
    manager = _flags(
        program("kube-controller-manager"),
        kubeconfig=kubeconfig,
        authentication_kubeconfig=kubeconfig,
        authorization_kubeconfig=kubeconfig,
        bind_address="127.0.0.1",
        secure_port=settings.ports.controller_manager,
        root_ca_file=paths.pki / "ca.crt",
        cluster_signing_cert_file=paths.pki / "ca.crt",
        cluster_signing_key_file=paths.pki / "ca.key",
        service_account_private_key_file=paths.pki / "service-account.key",
        use_service_account_credentials="true",
        leader_elect="false",
        kube_api_qps=200,  # hundreds of pods come and go in tests and benchmarks
        kube_api_burst=400,
        # The pods of a job start and end together: one write of their addresses for what changes at once.
        endpoint_updates_batch_period="500ms",
        endpointslice_updates_batch_period="500ms",
        profiling="false",
    )
    scheduler = _flags(
        program("kube-scheduler"),
        config=paths.config / "scheduler.yaml",
        bind_address="127.0.0.1",
        secure_port=settings.ports.scheduler,
    )
    health = "https://127.0.0.1:{}/healthz"
    return [
        Part("kube-controller-manager", manager, health.format(settings.ports.controller_manager)),
        Part("kube-scheduler", scheduler, health.format(settings.ports.scheduler)),
    ]


def _agents(paths: Paths, settings: Settings, program: Callable[[str], Path]) -> list[Part]:
    kubelet = _flags(
        program("kubelet"),
        config=paths.config / "kubelet.yaml",
        kubeconfig=paths.config / "kubelet.kubeconfig",
        root_dir=paths.kubelet,
        hostname_override=NODE,
        node_ip=settings.gateway,  # the bridge is there already, else this were no address of the host
    )
    proxy = _flags(program("kube-proxy"), config=paths.config / "kube-proxy.yaml", hostname_override=NODE)
    dns = (str(program("coredns")), "-conf", str(paths.config / "Corefile"))
    ports = settings.ports
    return [
        Part("kubelet", kubelet, f"http://127.0.0.1:{ports.kubelet_health}/healthz"),
        Part("kube-proxy", proxy, f"http://127.0.0.1:{ports.proxy_health}/healthz"),
        Part("coredns", dns, f"http://127.0.0.1:{ports.dns_ready}/ready"),
    ]


def kwok(kubeconfig: Path, settings: Settings, program: Callable[[str], Path]) -> Part:
    """The simulator of the fake node, for any cluster."""
    argv = _flags(
        program("kwok"),
        kubeconfig=kubeconfig,
        config=SOURCES / "kwok.yaml",
        manage_all_nodes="false",
        manage_nodes_with_annotation_selector="kwok.x-k8s.io/node=fake",
        cidr=settings.fake_pods,
        node_ip=settings.gateway,
        node_lease_duration_seconds=40,
        server_address=f"127.0.0.1:{settings.ports.kwok}",
    )
    return Part("kwok", argv, f"http://127.0.0.1:{settings.ports.kwok}/healthz")


def _provisioner(paths: Paths, settings: Settings) -> Part:
    bind = f"127.0.0.1:{settings.ports.provisioner}"
    argv = _flags(
        SOURCES / "provisioner.py",
        kubeconfig=paths.config / "provisioner.kubeconfig",
        volumes=paths.volumes,
        metrics_bind="0",
        health_bind=bind,
    )
    start = (sys.executable, "-P", *argv)  # -P: the script's folder is no place to import from
    return Part("provisioner", start, f"http://{bind}/readyz")

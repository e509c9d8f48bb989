# SPDX-License-Identifier: Apache-2.0
"""Addresses, names and ports of the local cluster; the ports may be moved by environment variables."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from hack.cluster.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = (
    "FAKE_NODE",
    "NODE",
    "PORTS_OF",
    "Ports",
    "Settings",
    "read",
    "settings_from",
    "variable",
    "written",
)

NODE = "local-0"
FAKE_NODE = "kwok-0"
POD_NET = IPv4Network("10.244.0.0/24")
SERVICE_NET = IPv4Network("10.96.0.0/16")


@dataclass(frozen=True)
class Ports:
    """The TCP ports that the parts listen on."""

    apiserver: int = 6443
    etcd: int = 12379
    etcd_peer: int = 12380
    controller_manager: int = 10257
    scheduler: int = 10259
    kubelet: int = 10250
    kubelet_health: int = 10248
    proxy_health: int = 10256
    proxy_metrics: int = 10249
    dns: int = 53
    dns_ready: int = 18181
    kwok: int = 10247
    provisioner: int = 10246


# the ports that each process holds while it runs
PORTS_OF: Mapping[str, tuple[str, ...]] = {
    "kube-apiserver": ("apiserver",),
    "etcd": ("etcd", "etcd_peer"),
    "kube-controller-manager": ("controller_manager",),
    "kube-scheduler": ("scheduler",),
    "kubelet": ("kubelet", "kubelet_health"),
    "kube-proxy": ("proxy_health", "proxy_metrics"),
    "coredns": ("dns", "dns_ready"),
    "kwok": ("kwok",),
    "provisioner": ("provisioner",),
}


@dataclass(frozen=True)
class Settings:
    """What the configuration files are rendered from."""

    ports: Ports = field(default_factory=Ports)
    name: str = "dglop"  # of the cgroup, the rules and the CNI network, and of the bridge with a 0 behind
    pods: IPv4Network = POD_NET
    services: IPv4Network = SERVICE_NET
    fake_pods: str = "10.245.0.1/16"
    domain: str = "cluster.local"

    @property
    def bridge(self) -> str:
        return f"{self.name}0"

    @property
    def gateway(self) -> str:
        """The bridge's address: the node's, the API server's and the DNS server's."""
        return str(self.pods[1])

    @property
    def api_service(self) -> str:
        return str(self.services[1])

    @property
    def server(self) -> str:
        return f"https://{self.gateway}:{self.ports.apiserver}"


def variable(port: str) -> str:
    """The environment variable that moves a port."""
    return f"DGLOP_PORT_{port.upper()}"


def settings_from(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings with the ports that the environment moves; ClusterError for what is no port."""
    given = os.environ if environ is None else environ
    moved = {}
    for port in fields(Ports):
        text = given.get(variable(port.name))
        if text is None:
            continue
        if not text.isdigit() or not 0 < int(text) < 65536:
            raise ClusterError(f"{variable(port.name)}={text} is no port: give a number from 1 to 65535")
        moved[port.name] = int(text)
    own = Settings()
    return Settings(
        ports=Ports(**moved),
        name=given.get("DGLOP_NAME", own.name),
        pods=_network(given, "DGLOP_POD_NET", own.pods),
        services=_network(given, "DGLOP_SERVICE_NET", own.services),
    )


def written(settings: Settings) -> str:
    """The settings as text, for those who come to a running cluster with other ones."""
    return json.dumps(asdict(settings), default=str)


def read(text: str) -> Settings | None:
    """The settings out of such a text; None where it is not one."""
    try:
        given = json.loads(text)
        pods, services = IPv4Network(given.pop("pods")), IPv4Network(given.pop("services"))
        return Settings(ports=Ports(**given.pop("ports")), pods=pods, services=services, **given)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _network(given: Mapping[str, str], name: str, otherwise: IPv4Network) -> IPv4Network:
    text = given.get(name)
    if text is None:
        return otherwise
    try:
        network = IPv4Network(text)
    except ValueError:
        raise ClusterError(f"{name}={text} is no network: give one such as {otherwise}") from None
    if network.prefixlen > 24:
        raise ClusterError(f"{name}={text} is too small: give one of 256 addresses or more")
    return network

# SPDX-License-Identifier: Apache-2.0
"""The configuration files of the parts, as text; why each odd setting is there stands beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from hack.cluster.image import PAUSE_IMAGE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hack.cluster.paths import Paths
    from hack.cluster.settings import Settings

__all__ = ("config_files",)


# images cannot be pulled again: never collect them, and let pods run on a disk that is nearly full
KEEP = {
    "imageGCHighThresholdPercent": 100,
    "imageGCLowThresholdPercent": 99,
    "evictionHard": {
        "memory.available": "50Mi",
        "nodefs.available": "1%",
        "nodefs.inodesFree": "1%",
        "imagefs.available": "1%",
    },
}


def config_files(paths: Paths, settings: Settings, cni_plugins: Path, resolv: str) -> Mapping[str, str]:
    """Every file of the configuration folder, by its name there; `resolv` is the host's own resolv.conf."""
    return {
        "containerd.toml": containerd_toml(paths, cni_plugins),
        "cni/10-dglop.conflist": json.dumps(cni(paths, settings), indent=2),
        "kubelet.yaml": yaml.safe_dump(kubelet(paths, settings)),
        "kube-proxy.yaml": yaml.safe_dump(proxy(paths, settings)),
        "scheduler.yaml": yaml.safe_dump(scheduler(paths)),
        "resolv.conf": "",  # pods whose dnsPolicy is Default see no foreign names: none are needed
        "Corefile": corefile(paths, settings, resolv),
    }


def containerd_toml(paths: Paths, cni_plugins: Path) -> str:
    """A containerd of our own: its data, socket and sandboxes lie apart from the host's."""
    return f"""\
version = 2
root = "{paths.containerd}"
state = "{paths.containerd_state}/run"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.internal.v1.opt",
]

[grpc]
  address = "{paths.containerd_socket}"

[plugins."io.containerd.grpc.v1.cri"]
  # without CAP_SYS_RESOURCE no sandbox could have a lower score than its parent
  restrict_oom_score_adj = true
  sandbox_image = "{PAUSE_IMAGE}"
  # under our folder, so that those left over by a crash are known to be ours
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni_plugins}"
    conf_dir = "{paths.config}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
"""


def cni(paths: Paths, settings: Settings) -> dict[str, Any]:
    """One bridge, whose address is the node's. One rule of our own masks pods to the world, not one a pod."""
    ipam = {
        "type": "host-local",
        "dataDir": str(paths.cluster / "cni"),
        "ranges": [[{"subnet": str(settings.pods), "gateway": settings.gateway}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {
        "type": "bridge",
        "bridge": settings.bridge,
        "isGateway": True,
        "hairpinMode": True,
        "ipam": ipam,
    }
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "0.4.0", "name": settings.name, "plugins": [bridge, portmap]}


def kubelet(paths: Paths, settings: Settings) -> dict[str, Any]:
    """The node's agent; made to run where cgroups are v1, memory is swapped and disks are nearly full."""
    pki = paths.pki
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": settings.gateway,
        "port": settings.ports.kubelet,
        "readOnlyPort": 0,
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": settings.ports.kubelet_health,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(pki / "kubelet-server.crt"),
        "tlsPrivateKeyFile": str(pki / "kubelet-server.key"),
        "containerRuntimeEndpoint": f"unix://{paths.containerd_socket}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{settings.name}",  # all pods below it: what a crash leaves there is ours to end
        "failCgroupV1": False,
        "failSwapOn": False,
        "enforceNodeAllocatable": [],
        "oomScoreAdj": 0,
        "makeIPTablesUtilChains": False,
        "clusterDomain": settings.domain,
        "clusterDNS": [settings.gateway],
        "resolvConf": str(paths.config / "resolv.conf"),
        "podLogsDir": str(paths.cluster / "pod-logs"),
        "volumePluginDir": str(paths.cluster / "volume-plugins"),
        **KEEP,
        "serializeImagePulls": False,
        "maxPods": 200,  # of the 254 addresses
        "registerNode": True,
    }


def proxy(paths: Paths, settings: Settings) -> dict[str, Any]:
    """Services by nftables; the kernel's own connection limits are left as they are."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clientConnection": {"kubeconfig": str(paths.config / "kube-proxy.kubeconfig")},
        "conntrack": {"maxPerCore": 0, "min": 0},
        "clusterCIDR": str(settings.pods),
        "healthzBindAddress": f"127.0.0.1:{settings.ports.proxy_health}",
        "metricsBindAddress": f"127.0.0.1:{settings.ports.proxy_metrics}",
        "oomScoreAdj": 0,
    }


def scheduler(paths: Paths) -> dict[str, Any]:
    """One scheduler, so no election; client limits that do not slow hundreds of pods down."""
    kubeconfig = str(paths.config / "scheduler.kubeconfig")
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": kubeconfig, "qps": 500, "burst": 1000},
        "leaderElection": {"leaderElect": False},
    }


def corefile(paths: Paths, settings: Settings, resolv: str) -> str:
    """Names of the cluster from the API, others from where the host asks, if it asks anywhere."""
    asks = any(line.split()[:1] == ["nameserver"] for line in resolv.splitlines())
    forward = "forward . /etc/resolv.conf" if asks else ""
    return f"""\
.:{settings.ports.dns} {{
    bind {settings.gateway}
    errors
    ready 127.0.0.1:{settings.ports.dns_ready}
    kubernetes {settings.domain} in-addr.arpa ip6.arpa {{
        kubeconfig {paths.config}/coredns.kubeconfig
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 5
    }}
    {forward}
    cache 5 {{
        disable success {settings.domain}
        disable denial {settings.domain}
    }}
}}
"""

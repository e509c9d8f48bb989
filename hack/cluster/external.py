# SPDX-License-Identifier: Apache-2.0
"""A cluster that somebody else runs: it is used, never begun, changed or ended."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.binaries import binary
from hack.cluster.commands import output, succeeds, system_path
from hack.cluster.errors import ClusterError
from hack.cluster.image import is_oci, name_in
from hack.cluster.status import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hack.cluster.report import Report

__all__ = ("External", "pushed_name")


def pushed_name(name: str, registry: str) -> str:
    """The name of an image in `registry`: its own host, where it has one, gives way."""
    first, _, rest = name.partition("/")
    path = rest if rest and ("." in first or ":" in first or first == "localhost") else name
    return f"{registry.rstrip('/')}/{path}"


class External:
    """The provider for a kubeconfig that is given."""

    name = "external"

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._kubeconfig = Path(environ.get("DGLOP_KUBECONFIG", "")).expanduser()
        self._registry = environ.get("DGLOP_REGISTRY")

    def up(self, report: Report) -> None:
        with report.step("cluster") as step:
            self.kubeconfig()
            status = self.status()
            if not status.running:
                raise ClusterError(
                    f"the cluster of {self._kubeconfig} does not answer: {status.text}\n"
                    "set DGLOP_KUBECONFIG to one that does, or unset it to have a local one"
                )
            step.note(f"yours, by {self._kubeconfig}")

    def down(self, report: Report) -> None:
        """Nothing but words: it is not ours to end."""
        with report.step("cluster") as step:
            step.note("yours, left as it is (DGLOP_KUBECONFIG)")

    def status(self) -> Status:
        kubectl = [str(self.kubectl()), "--kubeconfig", str(self.kubeconfig()), "--request-timeout=10s"]
        try:
            return Status(running=True, text=output([*kubectl, "get", "nodes"]))
        except ClusterError as error:
            return Status(running=False, text=str(error))

    def kubeconfig(self) -> Path:
        if not self._kubeconfig.is_file():
            raise ClusterError(f"DGLOP_KUBECONFIG={self._kubeconfig}: there is no such file")
        return self._kubeconfig

    def kubectl(self) -> Path:
        found = shutil.which("kubectl", path=system_path())
        return Path(found) if found else binary("kubectl")

    def load(self, archive: Path) -> str:
        """Push to DGLOP_REGISTRY, from which the cluster must be able to pull."""
        if not self._registry:
            raise ClusterError(
                "images reach a cluster that is not ours through a registry: set DGLOP_REGISTRY to one that "
                "this machine may push to and the cluster may pull from, such as ghcr.io/you"
            )
        name = name_in(archive)
        target = pushed_name(name, self._registry)
        push(archive, name, target)
        return target

    def logs(self) -> str:
        return "the logs of this cluster are with those who run it"


def push(archive: Path, name: str, target: str) -> None:
    """Push one image of an archive, by the first program at hand that can."""
    path = system_path()
    kind = "oci-archive" if is_oci(archive) else "docker-archive"
    source = f"{kind}:{archive}" if kind == "oci-archive" else f"{kind}:{archive}:{name}"
    if shutil.which("skopeo", path=path):
        output(["skopeo", "copy", source, f"docker://{target}"])
    elif shutil.which("buildah", path=path):
        pulled = output(["buildah", "pull", source]).split()[-1]
        output(["buildah", "push", pulled, f"docker://{target}"])
    elif succeeds(["docker", "info"]):
        output(["docker", "load", "--input", str(archive)])
        output(["docker", "tag", name, target])
        output(["docker", "push", target])
    else:
        raise ClusterError("pushing an image needs skopeo, buildah or a Docker engine: install one of them")

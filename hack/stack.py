# SPDX-License-Identifier: Apache-2.0
"""The whole stack, from a bare machine to an operator that is ready: for `make demo` and the e2e tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from dglop.dgljob.rbac import LEASE
from hack import images
from hack.cluster import binaries, choose_provider
from hack.cluster.errors import ClusterError
from hack.cluster.paths import cache_dir
from hack.cluster.report import choose_report

if TYPE_CHECKING:
    from pathlib import Path

    from hack.cluster.report import Report

NAMESPACE = "dglop-system"
DEPLOYMENT = "dglop-controller-manager"
_READY_SECONDS = 180
_IMAGES = ("operator", "dgl")
"""What the operator and its jobs run; others are built where a test wants them."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A cluster with the operator in it, and how to reach them."""

    kubeconfig: Path
    kubectl: Path
    operator_image: str
    dgl_image: str

    def run(self, *args: str, stdin: str | None = None) -> str:
        """
        Run kubectl and return what it printed.

        Raises:
            RuntimeError: kubectl failed; the message has the command and its words.
        """
        command = [str(self.kubectl), "--kubeconfig", str(self.kubeconfig), *args]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(args)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout


def envtest_assets(report: Report) -> Path:
    """Build what envtest needs, and give a folder with etcd, kube-apiserver and kubectl by name.

    Kueue is built too, since a test that had to wait for that would be taken to hang.
    """
    folder = cache_dir() / "envtest"
    folder.mkdir(parents=True, exist_ok=True)
    with report.step("envtest") as step:
        for name in ("etcd", "kube-apiserver", "kubectl"):
            link = folder / name
            target = binaries.binary(name, report=step)
            link.unlink(missing_ok=True)
            link.symlink_to(target)
        binaries.binary("kueue", report=step)
        step.note("etcd, kube-apiserver, kubectl, kueue")
    return folder


def bring_up(report: Report) -> Stack:
    """Cluster, images, operator; each reused where it is there already."""
    provider = choose_provider()
    if lacking := images.lacking(_IMAGES):
        report.say(images.announcement(lacking))
    provider.up(report)
    built = {each.name: each for each in images.build_images(report, _IMAGES)}
    with report.step("images") as step:
        loaded = {name: provider.load(each.archive) for name, each in built.items()}
        step.note(", ".join(f"{name} {each.unpacked_bytes / 1e6:.0f} MB" for name, each in built.items()))
    stack = Stack(
        kubeconfig=provider.kubeconfig(),
        kubectl=provider.kubectl(),
        operator_image=loaded["operator"],
        dgl_image=loaded["dgl"],
    )
    with report.step("operator") as step:
        install(stack)
        step.note(standing(stack))
    return stack


def render(stack: Stack, overlay: str = "config/default") -> list[dict[str, Any]]:
    """The manifests of one overlay with the operator's image put in."""
    text = stack.run("kustomize", overlay)
    documents = [each for each in yaml.safe_load_all(text) if each]
    return [
        json.loads(json.dumps(each).replace("dglop.local/operator:dev", stack.operator_image))
        for each in documents
    ]


def install(stack: Stack, overlay: str = "config/default") -> None:
    """
    Apply the overlay and wait until the Deployment is ready with its present template.

    Raises:
        RuntimeError: it did not get ready; the message has the pod's last words.
    """
    documents = render(stack, overlay)
    apply(stack, [each for each in documents if each["kind"] == "CustomResourceDefinition"])
    for each in documents:
        if each["kind"] == "CustomResourceDefinition":
            _wait_established(stack, each["metadata"]["name"])
    apply(stack, documents)
    namespace = next(each["metadata"]["namespace"] for each in documents if each["kind"] == "Deployment")
    try:
        stack.run(
            "rollout", "status", f"deployment/{DEPLOYMENT}", "-n", namespace, f"--timeout={_READY_SECONDS}s"
        )
    except RuntimeError as error:
        words = stack.run("get", "pods", "-n", namespace, "-o", "wide")
        logs = stack.run("logs", f"deployment/{DEPLOYMENT}", "-n", namespace, "--tail=30", "--ignore-errors")
        raise RuntimeError(f"the operator did not get ready: {error}\n{words}\n{logs}") from error


def standing(stack: Stack) -> str:
    """How many pods are ready, once one of them leads. Raises RuntimeError where none does in time."""
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        lease = stack.run("get", "lease", LEASE, "-n", NAMESPACE, "--ignore-not-found", "-o", "json")
        holder = str(json.loads(lease or "{}").get("spec", {}).get("holderIdentity") or "")
        pods = json.loads(stack.run("get", "pods", "-n", NAMESPACE, "-o", "json"))["items"]
        names = [each["metadata"]["name"] for each in pods if "deletionTimestamp" not in each["metadata"]]
        if any(holder.startswith(name) for name in names):
            deployment = json.loads(stack.run("get", "deployment", DEPLOYMENT, "-n", NAMESPACE, "-o", "json"))
            ready = deployment["status"].get("readyReplicas", 0)
            return f"{ready}/{deployment['spec']['replicas']} ready, leader"
        time.sleep(0.2)
    raise RuntimeError(
        f"no pod of the operator leads: look at `kubectl -n {NAMESPACE} describe lease {LEASE}`"
    )


def _wait_established(stack: Stack, crd: str) -> None:
    """`kubectl wait` stumbles over the null that conditions are for a moment, so this reads for itself."""
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        status = json.loads(stack.run("get", "crd", crd, "-o", "json")).get("status") or {}
        if any(
            each["type"] == "Established" and each["status"] == "True"
            for each in status.get("conditions") or []
        ):
            return
        time.sleep(0.2)
    raise RuntimeError(f"the API server does not serve {crd}: look at `kubectl describe crd {crd}`")


def apply(stack: Stack, documents: list[dict[str, Any]]) -> None:
    stack.run("apply", "-f", "-", stdin="\n---\n".join(json.dumps(each) for each in documents))


def next_lines(*commands: str) -> list[str]:
    """What to type next, a command a line, for this cluster and whoever has no kubectl."""
    return ["  next:", *(f"    {each}" for each in ('eval "$(make -s env)"', *commands, "make down"))]


def main() -> int:
    try:
        bring_up(choose_report())
    except (ClusterError, RuntimeError) as error:
        print(f"\n  {error}", file=sys.stderr)
        return 1
    print("\n".join(["", *next_lines("kubectl get dgljobs -A")]))
    return 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())

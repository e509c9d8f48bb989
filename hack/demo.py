# SPDX-License-Identifier: Apache-2.0
"""`make demo`: from a bare machine to a trained graph network, with every stage told as it happens."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dglop.errors import DglopError
from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from hack import stack as hack_stack
from hack.cluster.errors import ClusterError
from hack.cluster.paths import cache_dir, short
from hack.cluster.report import choose_report

if TYPE_CHECKING:
    from hack.cluster.report import Report
    from hack.stack import Stack

_ROOT = Path(__file__).resolve().parent.parent
_SAMPLE = _ROOT / "config" / "samples" / "graphsage.yaml"
_NAMESPACE = "dglop-demo"
_JOB = Resource("kubeflow.org", "v1alpha1", "DGLJob", "dgljobs")
_BAR = 10
_POLL_SECONDS = 0.25


class DemoError(Exception):
    """The demo stopped; the text says where, why and what to look at."""


class Follower:
    """Knows the job as the API server last told it."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = name
        self.job: dict[str, Any] = {}

    async def refresh(self) -> None:
        """
        Read the job anew.

        Raises:
            DemoError: it failed.
        """
        await asyncio.sleep(_POLL_SECONDS)
        self.job = await self._client.get(_JOB, self._name, _NAMESPACE)
        if self.phase == "Failed":
            raise DemoError(_failure(self.job))

    async def begun(self) -> None:
        """Return when the operator has taken the job up."""
        while not self.phase:
            await self.refresh()

    @property
    def has_parts(self) -> bool:
        """Whether there are parts to train on; a restart may take them away again."""
        return self.status.get("partition", {}).get("state") in {"Succeeded", "Reused", "Skipped"}

    @property
    def phase(self) -> str:
        return str(self.status.get("phase", ""))

    @property
    def status(self) -> dict[str, Any]:
        found = self.job.get("status", {})
        assert isinstance(found, dict)
        return found


def _failure(job: dict[str, Any]) -> str:
    """The cause in a sentence, the last lines of the pod that caused it, and a command that looks closer."""
    status = job["status"]
    conditions: list[dict[str, Any]] = status.get("conditions", [])
    failed = next((each for each in conditions if each["type"] == "Failed"), {})
    cause: dict[str, Any] = status.get("lastFailure", {})
    name = job["metadata"]["name"]
    lines = [f"{failed.get('reason', 'Failed')}: {failed.get('message', 'no message')}"]
    if cause.get("message"):
        lines += ["", *(f"    {line}" for line in str(cause["message"]).splitlines()[-12:])]
    pod = cause.get("podName")
    closer = [f"kubectl -n {_NAMESPACE} describe dgljob {name}"]
    if pod:
        closer.append(f"kubectl -n {_NAMESPACE} logs {pod}")
    return "\n".join([*lines, "", *hack_stack.next_lines(*closer)])


def _size(value: float) -> str:
    return f"{value / 1e6:.1f} MB" if value >= 1e5 else f"{value / 1e3:.0f} kB"


def _metrics(status: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in status.get("trainer", {}).get("metrics", [])}


def _progress(status: dict[str, Any]) -> str:
    """One line about training as it stands: the epoch, the loss, the pace, a bar."""
    percent = int(status.get("trainer", {}).get("progressPercentage", 0))
    full = round(percent * _BAR / 100)
    seen = _metrics(status)
    words = [f"{name} {seen[name][:5]}" for name in ("epoch", "loss") if name in seen]
    words.append("█" * full + "░" * (_BAR - full))
    if "samplesPerSecond" in seen:
        words.append(f"{float(seen['samplesPerSecond']):.0f} samples/s")
    return "  ".join(words)


def _sample(stack: Stack) -> list[dict[str, Any]]:
    text = _SAMPLE.read_text().replace("dglop.local/dgl:dev", stack.dgl_image)
    return [each for each in yaml.safe_load_all(text) if each]


def _submit(stack: Stack) -> str:
    """Submit the sample; a job that an earlier demo left is replaced, its claim is kept."""
    documents = _sample(stack)
    name = next(str(each["metadata"]["name"]) for each in documents if each["kind"] == "DGLJob")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
    hack_stack.apply(stack, [namespace])
    stack.run(
        "delete", "dgljob", name, "-n", _NAMESPACE, "--ignore-not-found", "--cascade=foreground", "--wait"
    )
    for document in documents:
        document["metadata"]["namespace"] = _NAMESPACE
    hack_stack.apply(stack, documents)
    return name


def _describe(name: str, spec: dict[str, Any]) -> str:
    workers = spec["dglReplicaSpecs"]["Worker"]["replicas"]
    kinds = ["server", *(["sampler"] if spec.get("numSamplers") else []), "trainer"]
    return f"  {name} · {workers} workers × ({', '.join(kinds)})"  # noqa: RUF001 - a times sign


async def _follow(follower: Follower, report: Report) -> None:
    await follower.begun()
    report.say(_describe(follower.job["metadata"]["name"], follower.job["spec"]))
    with report.step("partition") as step:
        while not follower.has_parts:
            step.note(_waiting(follower.status))
            await follower.refresh()
        partition = follower.status["partition"]
        step.note(_partition_words(partition))
    with report.step("fetch") as step:
        while follower.phase not in {"Training", "Completed"}:
            step.note(_waiting(follower.status))
            await follower.refresh()
        fetched = follower.status["dispatch"]
        # A Worker counts as ready once its part has the manifest's sha256: it would not run otherwise.
        size = _size(partition.get("bytes", 0))
        step.note(f"{fetched['ready']}/{fetched['total']} parts, {size}, sha256 ok")
    with report.step("train") as step:
        while follower.phase != "Completed":
            step.note(_progress(follower.status))
            await follower.refresh()
        step.note(_progress(follower.status))


def _waiting(status: dict[str, Any]) -> str:
    """Why nothing runs yet, in the words of the condition; so a pod that cannot start is not a mystery."""
    if status.get("phase") == "Restarting":
        return f"restarting after {status.get('lastFailure', {}).get('podName') or 'a failure'}"
    conditions: list[dict[str, Any]] = status.get("conditions", [])
    running = next((each for each in conditions if each["type"] == "Running"), {})
    return str(running.get("message") or "its pods start")


def _partition_words(partition: dict[str, Any]) -> str:
    words = [f"{partition['total']} parts"]
    if message := partition.get("message"):
        words.append(str(message))
    return ", ".join(words)


def _conclusion(job: dict[str, Any], seconds: float) -> str:
    output = job["spec"].get("output", {})
    accuracy = _metrics(job["status"]).get("testAccuracy", "unknown")
    file = "/".join(filter(None, (output.get("subPath"), "model.pt")))
    claim = output.get("claimName")
    where = f"volume {claim}, file {file}" if claim else "an emptyDir (name a claim in spec.output)"
    return "\n".join(
        [
            f"\n  Trained. test accuracy {accuracy} · model in {where} · {seconds:.0f} s in all",
            *hack_stack.next_lines(f"kubectl -n {_NAMESPACE} get dgljobs"),
        ]
    )


async def _demo(report: Report) -> None:
    began = time.monotonic()
    stack = await asyncio.to_thread(hack_stack.bring_up, report)
    async with await Client.connect(ClientConfig(kubeconfig=str(stack.kubeconfig))) as client:
        name = await asyncio.to_thread(_submit, stack)
        follower = Follower(client, name)
        await _follow(follower, report)
        report.say(_conclusion(follower.job, time.monotonic() - began))


def main() -> int:
    report = choose_report()
    report.say(f"dglop demo · log: {short(cache_dir() / 'cluster.log')}")
    try:
        asyncio.run(_demo(report))
    except (DemoError, ClusterError, DglopError, RuntimeError) as error:
        report.say(f"\n  {error}")
        return 1
    except KeyboardInterrupt:
        report.say("\n  Stopped. What runs goes on; `make down` ends it.")
        return 130
    return 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())

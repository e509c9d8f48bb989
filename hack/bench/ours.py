# SPDX-License-Identifier: Apache-2.0
"""Our operator as a process on this machine, as the shipped Deployment would run it."""

from __future__ import annotations

import json
import re
import sys
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from hack.bench.errors import BenchError
from hack.bench.identity import write_kubeconfig
from hack.bench.operator import Operator
from hack.bench.podseat import can_seat, seated, write_account
from hack.bench.process import free_port, running
from hack.stack import DEPLOYMENT, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from pathlib import Path

    from hack.stack import Stack

__all__ = ("deployment_paused", "operator_arguments", "our_operator")


def operator_arguments(deployment: Mapping[str, Any]) -> list[str]:
    """The arguments of the Deployment's container, with $(NAME) put in as the kubelet would."""
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    namespace = deployment["metadata"]["namespace"]
    values = {each["name"]: _value(each, namespace) for each in container.get("env", [])}

    def put_in(found: re.Match[str]) -> str:
        value = values.get(found[1])
        return found[0] if value is None else value

    return [re.sub(r"\$\((\w+)\)", put_in, each) for each in container["args"]]


def _value(variable: Mapping[str, Any], namespace: str) -> str | None:
    field = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
    if field == "metadata.namespace":
        return namespace
    value = variable.get("value")
    return None if value is None else str(value)


@contextmanager
def deployment_paused(stack: Stack) -> Iterator[dict[str, Any]]:
    """No pod of the shipped Deployment runs inside the block; yields the Deployment as it was."""
    deployment: dict[str, Any] = json.loads(
        stack.run("get", "deployment", DEPLOYMENT, "-n", NAMESPACE, "-o", "json")
    )
    replicas = deployment["spec"].get("replicas", 1)
    labels = ",".join(
        f"{key}={value}" for key, value in deployment["spec"]["selector"]["matchLabels"].items()
    )
    if not replicas:
        raise BenchError(
            f"deployment/{DEPLOYMENT} has no replicas: an earlier measurement was broken off; "
            f"`kubectl scale -n {NAMESPACE} deployment/{DEPLOYMENT} --replicas=1` mends it"
        )
    scale = ("scale", f"deployment/{DEPLOYMENT}", "-n", NAMESPACE)
    try:
        stack.run(*scale, "--replicas=0")
        stack.run("wait", "--for=delete", "pod", "-l", labels, "-n", NAMESPACE, "--timeout=120s")
        yield deployment
    finally:
        stack.run(*scale, f"--replicas={replicas}")


@asynccontextmanager
async def our_operator(
    stack: Stack, deployment: Mapping[str, Any], folder: Path, *more: str
) -> AsyncIterator[Operator]:
    """The operator with the Deployment's service account and arguments, and *more* of these."""
    account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
    health, metrics = free_port(), free_port()
    argv = [
        sys.executable,
        "-m",
        "dglop",
        *operator_arguments(deployment),
        *more,
        f"--health-bind=127.0.0.1:{health}",
        f"--metrics-bind=127.0.0.1:{metrics}",
        f"--progress-bind=127.0.0.1:{free_port()}",
    ]
    if can_seat():
        env = write_account(stack, NAMESPACE, account, folder / "operator.account")
        argv = seated(argv, folder / "operator.account")
    else:
        env = {"KUBECONFIG": str(write_kubeconfig(stack, NAMESPACE, account, folder / "operator.kubeconfig"))}
    env |= {"POD_NAMESPACE": NAMESPACE, "PYTHONUNBUFFERED": "1"}
    async with running(argv, env=env, log=folder / "operator.log") as program:
        yield Operator(program, health, metrics)

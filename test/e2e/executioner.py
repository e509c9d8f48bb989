# SPDX-License-Identifier: Apache-2.0
"""Kills processes of containers as the kernel does: at once and without a word; their pods stay."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from test.e2e.kubectl import Kubectl

__all__ = ("Executioner",)

_NAME, _NAMESPACE = "executioner", "e2e-executioner"

# What is asked for comes as one word of JSON, so that nobody's command line but the victim's matches.
_KILL = """
import json, os, pathlib, signal, sys
asked = json.loads(sys.argv[1])
variables, words = ([each.encode() for each in asked[key]] for key in ("environ", "words"))
killed = 0
for each in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        environ = each.joinpath("environ").read_bytes().split(b"\\0")
        command = each.joinpath("cmdline").read_bytes().split(b"\\0")
    except OSError:
        continue
    told = environ + command
    if all(one in told for one in variables) and all(any(a.endswith(w) for a in command) for w in words):
        os.kill(int(each.name), signal.SIGKILL)
        killed += 1
print(killed)
"""


@dataclass(frozen=True, slots=True)
class Executioner:
    """A pod that sees the node's processes: the only honest way to SIGKILL a container's first process."""

    kubectl: Kubectl
    image: str

    def start(self) -> None:
        self.kubectl.run("delete", "namespace", _NAMESPACE, "--ignore-not-found", "--wait")
        self.kubectl.run("create", "namespace", _NAMESPACE)
        container = {
            "name": "main",
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "command": ["sleep", "infinity"],
            "securityContext": {"privileged": True, "runAsUser": 0},
        }
        self.kubectl.apply(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": _NAME, "namespace": _NAMESPACE},
                "spec": {"hostPID": True, "terminationGracePeriodSeconds": 0, "containers": [container]},
            }
        )
        ready = ("wait", "--for=condition=Ready", f"pod/{_NAME}", "-n", _NAMESPACE, "--timeout=120s")
        self.kubectl.run(*ready)

    def stop(self) -> None:
        self.kubectl.run("delete", "namespace", _NAMESPACE, "--wait=false")

    def kill(self, *words: str, **environ: str) -> None:
        """SIGKILL the one process that was told `environ` and has a word ending in each of `words`."""
        asked = {"environ": [f"{name}={value}" for name, value in environ.items()], "words": words}
        killed = self.kubectl.exec(_NAME, _NAMESPACE, "python3", "-c", _KILL, json.dumps(asked))
        assert int(killed) == 1, f"{killed.strip()} processes were killed: {asked}"

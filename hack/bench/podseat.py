# SPDX-License-Identifier: Apache-2.0
"""A start as in a pod: the service account in the files that a kubelet would mount, and no kubeconfig."""

from __future__ import annotations

import base64
import json
import os
import shutil
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hack.stack import Stack

__all__ = ("can_seat", "pod_variables", "seated", "write_account")

# The program alone sees this /run: nothing is left on the machine, and two programs may be of two accounts.
_SEAT = """
unset KUBECONFIG; mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io &&
ln -s "$0" /run/secrets/kubernetes.io/serviceaccount && exec "$@"
"""


def can_seat() -> bool:
    """Whether this machine lets us give a program mounts of its own."""
    return os.geteuid() == 0 and shutil.which("unshare") is not None


def seated(argv: list[str], account: Path) -> list[str]:
    """The command that becomes `argv`, with the folder `account` where pods have their service account."""
    return ["unshare", "--mount", "--propagation=private", "sh", "-c", _SEAT, str(account), *argv]


def write_account(stack: Stack, namespace: str, account: str, folder: Path) -> dict[str, str]:
    """Fill the folder as a kubelet would; what the program's environment has to say beside it."""
    config = json.loads(stack.run("config", "view", "--raw", "--minify", "--flatten", "-o", "json"))
    cluster = config["clusters"][0]["cluster"]
    token = stack.run("create", "token", account, "-n", namespace, "--duration=8h").strip()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "token").write_text(token)
    (folder / "namespace").write_text(namespace)
    (folder / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    return pod_variables(cluster)


def pod_variables(cluster: Mapping[str, Any]) -> dict[str, str]:
    """How a pod would be told where the API server of this entry of a kubeconfig is."""
    url = urlsplit(cluster["server"])
    return {"KUBERNETES_SERVICE_HOST": url.hostname or "", "KUBERNETES_SERVICE_PORT": str(url.port or 443)}

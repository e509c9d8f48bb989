# SPDX-License-Identifier: Apache-2.0
"""A kubeconfig for a program that runs beside the cluster with the rights of a service account."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from hack.stack import Stack

__all__ = ("as_account", "write_kubeconfig")


def as_account(config: dict[str, Any], token: str) -> dict[str, Any]:
    """The same cluster and context, and nobody but the owner of the token."""
    users = [{"name": each["name"], "user": {"token": token}} for each in config["users"]]
    return {**config, "users": users}


def write_kubeconfig(stack: Stack, namespace: str, account: str, path: Path) -> Path:
    """Write the file for `account`, readable by us alone."""
    admin = json.loads(stack.run("config", "view", "--raw", "--minify", "--flatten", "-o", "json"))
    token = stack.run("create", "token", account, "-n", namespace, "--duration=8h").strip()
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(as_account(admin, token), file)
    return path

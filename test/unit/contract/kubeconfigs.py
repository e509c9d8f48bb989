# SPDX-License-Identifier: Apache-2.0
"""Kubeconfigs and credential plugins for the contracts, and the official loader on them."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import yaml

from test.unit.contract.facts import official

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ("SERVER", "load", "plugin", "write")

SERVER = "https://cluster.example:6443"


def write(
    path: Path, user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, name: str = "here"
) -> Path:
    """A kubeconfig with one context, cluster and user, all called `name`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": SERVER, **(cluster or {})}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": f"in-{name}"}}],
        "users": [{"name": name, "user": user or {}}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


def plugin(folder: Path, status: dict[str, Any] | None, code: int = 0) -> dict[str, Any]:
    """A user whose credentials come from a program that gives `status`, or nothing."""
    program = folder / "plugin"
    said = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    text = "" if status is None else json.dumps(said)
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(program)}}


async def load(path: Path | str, **named: Any) -> tuple[Any, Any]:
    """The Configuration that a kubeconfig fills, and the loader, asked just as ours asks."""
    configuration = official("kubernetes.aio.client").Configuration()
    loader = await official("kubernetes.aio.config").load_kube_config(
        config_file=str(path), client_configuration=configuration, persist_config=False, **named
    )
    return configuration, loader

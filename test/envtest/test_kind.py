# SPDX-License-Identifier: Apache-2.0
"""The real kind reads our configuration and our arguments, though no Docker engine is there to go on with."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from hack.cluster import kind
from hack.cluster.binaries import binary
from hack.cluster.paths import SOURCES

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = ("up", "down", "kubeconfig", "list", "load", "logs")


def _run(folder: Path, *arguments: str) -> str:
    """What kind says without a docker: arguments and configuration are read before one is looked for."""
    environment = {"HOME": str(folder), "PATH": str(folder), "KIND_EXPERIMENTAL_PROVIDER": "docker"}
    ended = subprocess.run(
        [binary("kind"), *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0
    return ended.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_kind_understands_every_call_and_lacks_nothing_but_docker(command: str, tmp_path: Path) -> None:
    archive = tmp_path / "image.tar"
    archive.touch()
    said = _run(tmp_path, *kind.arguments(command, "dglop", tmp_path / "kubeconfig", archive))
    assert 'exec: "docker": executable file not found' in said


def test_kind_would_refuse_a_field_or_a_flag_that_it_does_not_know(tmp_path: Path) -> None:
    wrong = tmp_path / "kind.yaml"
    wrong.write_text((SOURCES / "kind.yaml").read_text() + "    colour: red\n")
    assert "field colour not found" in _run(tmp_path, "create", "cluster", "--config", str(wrong))
    assert "unknown flag" in _run(tmp_path, "create", "cluster", "--colour", "red")

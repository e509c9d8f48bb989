# SPDX-License-Identifier: Apache-2.0
"""When a program is built anew, and with which Go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hack.cluster.binaries import TOOLS, binary, built, fingerprint, home, kubectl, missing, module_version
from hack.cluster.errors import ClusterError
from hack.cluster.golang import new_enough, parse_go_version
from hack.cluster.paths import Paths

if TYPE_CHECKING:
    from pathlib import Path

FILES = {"go.mod": b"module a", "main.go": b"package main"}


def test_the_same_inputs_have_the_same_fingerprint_in_any_order() -> None:
    assert fingerprint(FILES, "x") == fingerprint(dict(reversed(FILES.items())), "x")


@pytest.mark.parametrize(
    ("files", "setting"),
    [
        ({**FILES, "go.mod": b"module b"}, "x"),
        ({**FILES, "more.go": b""}, "x"),
        ({"go.mod": b"module apackage main", "main.go": b""}, "x"),
        (FILES, "y"),
    ],
)
def test_any_changed_input_changes_the_fingerprint(files: dict[str, bytes], setting: str) -> None:
    assert fingerprint(files, setting) != fingerprint(FILES, "x")


def test_a_version_is_read_from_a_requirement_in_a_block_or_alone() -> None:
    block = "module m\n\nrequire (\n\tk8s.io/a v1.0.0\n\tk8s.io/ab v2.0.0 // indirect\n)\n"
    assert module_version(block, "k8s.io/ab") == "v2.0.0"
    assert module_version("require k8s.io/a v1.2.3\n", "k8s.io/a") == "v1.2.3"


def test_a_module_that_is_not_required_is_an_error_with_its_name() -> None:
    with pytest.raises(ClusterError, match="requires no k8s"):
        module_version("replace k8s.io/a => k8s.io/a v1.2.3\n", "k8s.io/a")


def test_every_tool_has_its_version_in_the_name_of_its_folder(tmp_path: Path) -> None:
    for tool in TOOLS.values():
        assert f"{tool.name}-{tool.version}-" in str(home(tool, Paths(tmp_path)))


def test_kubernetes_tells_its_version_to_those_who_ask_it() -> None:
    tool = TOOLS["kubernetes"]
    assert f"gitVersion={tool.version}" in tool.ldflags
    assert "gitMajor=1" in tool.ldflags


def test_a_tool_is_missing_until_its_program_is_in_its_folder(tmp_path: Path) -> None:
    paths, tool = Paths(tmp_path), TOOLS["etcd"]
    part = home(tool, paths).with_name(home(tool, paths).name + ".part")
    part.mkdir(parents=True)
    (part / "etcd").touch()
    assert missing(("etcd",), paths) == [tool]
    part.rename(home(tool, paths))
    assert built(tool, paths)
    assert binary("etcd", paths) == home(tool, paths) / "etcd"


def test_an_unknown_program_is_told_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="kube-apiserver"):
        binary("kube-nothing", Paths(tmp_path))


@pytest.mark.parametrize(
    ("text", "version", "good"),
    [
        ("go version go1.26.8 linux/amd64", (1, 26, 8), True),
        ("go version go1.27rc1 linux/amd64", (1, 27, 0), True),
        ("go version go1.19.8 linux/amd64", (1, 19, 8), False),
        ("go version go2.0 linux/amd64", (2, 0, 0), True),
        ("command not found", None, False),
    ],
)
def test_a_go_from_1_26_on_is_new_enough(text: str, version: tuple[int, ...] | None, good: bool) -> None:
    assert parse_go_version(text) == version
    assert new_enough(version) is good


def test_the_short_path_of_kubectl_follows_its_version_and_the_folder_it_lies_in(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "a")
    program = home(TOOLS["kubectl"], paths) / "kubectl"
    program.parent.mkdir(parents=True)
    program.touch()
    (paths.bin / "kubectl").symlink_to("kubectl-v1.0.0-old/kubectl")
    assert kubectl(paths).resolve() == program.resolve()
    (tmp_path / "a").rename(tmp_path / "b")
    assert (tmp_path / "b" / "bin" / "kubectl").exists()

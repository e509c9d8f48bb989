# SPDX-License-Identifier: Apache-2.0
"""The zipapp as it is delivered into a user's image."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import dglop.dglrun
from dglop.dglrun import contract
from hack.zipapp import build_zipapp

if TYPE_CHECKING:
    from pathlib import Path


def test_the_same_sources_give_the_same_bytes(tmp_path: Path, zipapp: Path) -> None:
    assert build_zipapp(tmp_path / "again.pyz").read_bytes() == zipapp.read_bytes()


def test_it_runs_without_anything_else_installed(zipapp: Path) -> None:
    said = subprocess.run([sys.executable, "-IS", str(zipapp), "--version"], capture_output=True, check=True)
    assert said.stdout.decode() == f"dglrun {dglop.dglrun.VERSION}\n"


def test_a_trainer_imports_report_from_it(zipapp: Path) -> None:
    program = f"import sys; sys.path.append({str(zipapp)!r}); from dglrun import report; print(report(1))"
    said = subprocess.run([sys.executable, "-ISc", program], capture_output=True, check=True)
    assert said.stdout == b"False\n"


def test_an_unknown_command_and_a_missing_separator_are_mistakes_that_are_explained(
    tmp_path: Path, zipapp: Path
) -> None:
    env = {contract.ENV_TERMINATION_LOG: str(tmp_path / "log")}
    for argv, text in ((["train"], "no command"), (["worker", "python3"], "put -- before")):
        done = subprocess.run([sys.executable, str(zipapp), *argv], env=env, capture_output=True, check=False)
        assert done.returncode == contract.EXIT_CONFIG
        assert text in (tmp_path / "log").read_text()


def test_it_needs_nothing_but_the_standard_library(zipapp: Path) -> None:
    allowed = set(sys.stdlib_module_names) | {"dglrun"}
    inside_functions = {"dgl", "torch", "numpy", "pyarrow", "sklearn"}
    with zipfile.ZipFile(zipapp) as archive:
        for name in archive.namelist():
            tree = ast.parse(archive.read(name))
            for node in ast.walk(tree):
                found = _imported(node)
                top = node in tree.body
                assert found <= allowed | (set() if top else inside_functions), name


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return {(node.module or "").partition(".")[0]}
    return set()

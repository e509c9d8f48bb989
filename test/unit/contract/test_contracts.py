# SPDX-License-Identifier: Apache-2.0
"""The contracts themselves: each of our uses of the official client has one, and can fail in words."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from test.unit.contract.facts import SOURCES, official, relied_on, stood_in

_HERE = Path(__file__).parent


def _imports(file: Path) -> list[str]:
    """What of the official client a file of ours imports."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "kubernetes":
            found += [f"{node.module}.{each.name}" for each in node.names]
        elif isinstance(node, ast.Import):
            found += [each.name for each in node.names if each.name.partition(".")[0] == "kubernetes"]
    return found


def test_what_is_shipped_imports_two_names_of_the_official_client() -> None:
    found = {
        (str(file.relative_to(SOURCES)), each) for file in SOURCES.rglob("*.py") for each in _imports(file)
    }
    assert found == {
        ("runtime/client/kubeconfig.py", "kubernetes.aio.config"),
        ("runtime/client/kubeconfig.py", "kubernetes.aio.client.Configuration"),
    }


def test_every_attribute_that_we_read_of_them_has_a_contract() -> None:
    read = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse((SOURCES / "runtime/client/kubeconfig.py").read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("configuration", "loader", "official")
    }
    said = "".join(file.read_text() for file in _HERE.glob("*.py"))
    assert len(read) > 8
    assert [each for each in read if each.partition(".")[2] not in said] == []


def test_a_contract_that_is_broken_says_who_breaks_what_and_whom() -> None:
    with (
        pytest.raises(pytest.fail.Exception) as told,
        relied_on("there is a fork", by="runtime/client/kubeconfig.py: _endpoint"),
    ):
        official("kubernetes.aio.fork")
    assert str(told.value).startswith("kubernetes ")
    assert "no longer so: there is a fork; used by runtime/client/kubeconfig.py: _endpoint" in str(told.value)
    assert "No module named 'kubernetes.aio.fork'" in str(told.value)


def test_a_trap_that_is_mended_says_what_of_ours_may_go() -> None:
    with (
        pytest.raises(pytest.fail.Exception, match=r"perhaps mended: it leaks; stood in for by .*can go"),
        stood_in("it leaks", by="runtime/client/convert.py: _plain"),
    ):
        raise AssertionError


def test_an_error_that_is_missed_is_told_in_the_same_way() -> None:
    with (
        pytest.raises(pytest.fail.Exception, match=r"no longer so: it is refused; .*DID NOT RAISE"),
        relied_on("it is refused", by="runtime/client/convert.py: _plain"),
        pytest.raises(ValueError, match="x"),
    ):
        pass


def test_a_contract_names_a_place_of_ours_that_is_there() -> None:
    with (
        pytest.raises(LookupError, match=r"runtime/client/gone.py: x"),
        relied_on("x", by="runtime/client/gone.py: x"),
    ):
        pass

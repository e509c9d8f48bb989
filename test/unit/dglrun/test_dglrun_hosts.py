# SPDX-License-Identifier: Apache-2.0
"""Waiting until the hosts of an MPI host file have addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.dglrun import contract
from dglop.dglrun.cli import main
from dglop.dglrun.hosts import await_hosts, hosts_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("text", ["a.b slots=2\nc slots=1\n", "a.b:2\nc:2\n", "a.b\n\n c\n"])
def test_the_hosts_are_read_out_of_every_form_of_host_file(text: str) -> None:
    assert hosts_of(text) == ["a.b", "c"]


def test_it_ends_when_every_host_has_an_address_and_says_who_is_missing_when_that_changes() -> None:
    there: set[str] = set()
    arrivals = iter([set(), set(), {"b"}, {"b", "a"}])
    said: list[str] = []

    def pause(_seconds: float) -> None:
        there.update(next(arrivals))

    await_hosts(["a", "b"], there.__contains__, pause, said.append)
    assert said == [
        "waiting for the address of a, b",
        "waiting for the address of a",
        "all 2 hosts have addresses",
    ]


def test_the_command_takes_the_path_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hosts = tmp_path / "hostfile"
    hosts.write_text("")
    assert main(["hosts", str(hosts)]) == 0
    assert capsys.readouterr().out == "all 0 hosts have addresses\n"
    assert main(["hosts"]) == contract.EXIT_CONFIG
    assert "takes the path of a host file" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hosts", str(tmp_path / "none")]) == contract.EXIT_CONFIG
    assert f"cannot read {tmp_path / 'none'}" in capsys.readouterr().err

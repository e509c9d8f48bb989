# SPDX-License-Identifier: Apache-2.0
"""Which of the host's apt settings reach an image's Debian root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hack.images import debian

if TYPE_CHECKING:
    from pathlib import Path

STANZA = """Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg"""


def test_debian_stanzas_are_kept_as_they_are_and_foreign_ones_left_out() -> None:
    foreign = "Types: deb\nURIs: http://vendor.example/apt\nSuites: nodistro\nComponents: main"
    source = "Types: deb-src\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main"
    disabled = f"Enabled: no\n{STANZA}"
    text = f"{STANZA}\n\n{foreign}\n\n{source}\n\n{disabled}"
    assert debian.host_sources([("debian.sources", text)]) == [("debian.sources", STANZA + "\n")]


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ("deb http://mirror.example/debian bookworm main", True),
        ("deb [trusted=yes arch=amd64] http://mirror.example/debian bookworm-security main # fast", True),
        ("deb http://mirror.example/debian bookworm-backports main", False),
        ("deb http://mirror.example/debian trixie main", False),
        ("deb https://download.example/linux/debian bookworm stable", False),
        ("deb-src http://mirror.example/debian bookworm main", False),
        ("# deb http://mirror.example/debian bookworm main", False),
        ("", False),
    ],
)
def test_a_line_is_kept_where_it_names_the_release_and_its_main_component(row: str, kept: bool) -> None:
    expected = [("sources.list", row + "\n")] if kept else []
    assert debian.host_sources([("sources.list", row)]) == expected


def test_options_on_reaching_and_trusting_packages_are_passed_on() -> None:
    wanted = [
        'Acquire::http::Proxy "http://proxy.example:3128";',
        'Acquire::https::mirror.example::Verify-Peer "false";',
        'Acquire::Check-Valid-Until "false";',
        'Acquire::Retries "3";',
    ]
    other = [
        'APT::Install-Recommends "1";',
        'Acquire::http "";',
        'Acquire::httpish::Proxy "x";',
        'APT::Update::Post-Invoke-Success:: "/usr/bin/touch /tmp/x";',
    ]
    assert debian.apt_options("\n".join([*other, *wanted])) == wanted


def test_the_public_sources_are_of_the_release_themselves() -> None:
    text = debian.debian_sources(signed=True)
    assert debian.host_sources([("debian.sources", text)]) == [("debian.sources", text)]
    assert "Signed-By" not in debian.debian_sources(signed=False)


def test_packages_are_read_one_a_line(tmp_path: Path) -> None:
    (tmp_path / "packages.txt").write_text("python3\nca-certificates\n")
    assert debian.read_packages(tmp_path / "packages.txt") == ["python3", "ca-certificates"]

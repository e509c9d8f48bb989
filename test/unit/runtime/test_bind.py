# SPDX-License-Identifier: Apache-2.0
"""Which texts are addresses to listen on."""

from __future__ import annotations

import pytest

from dglop.errors import ConfigError
from dglop.runtime.bind import parse_bind


@pytest.mark.parametrize(
    ("bind", "address"),
    [
        ("0", None),
        ("", None),
        (":8080", (None, 8080)),
        (":0", (None, 0)),
        ("127.0.0.1:1", ("127.0.0.1", 1)),
        ("localhost:1", ("localhost", 1)),
        ("my-host.example.dev:65535", ("my-host.example.dev", 65535)),
        ("[::1]:1", ("::1", 1)),
        ("[fe80::1%eth0]:1", ("fe80::1%eth0", 1)),
    ],
)
def test_an_address_is_host_and_port_or_none(bind, address):
    assert parse_bind(bind) == address


@pytest.mark.parametrize(
    "bind",
    [
        "nonsense", "8080", "host:", "host:http", ":99999", ":65536", ":-1", ":²", ": 80", "::1:80",
        "a b:80", "http://host:80", "-host:80", "host-:80", "a..b:80", "1.2.3:80", "1.2.3.400:80",
        "[1.2.3.4]:80", "[host]:80", "[::1:80", "*:80", "/run/socket",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(bind):
    with pytest.raises(ConfigError, match="no address to listen on"):
        parse_bind(bind)

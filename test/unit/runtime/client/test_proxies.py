# SPDX-License-Identifier: Apache-2.0
"""Which API servers are asked through the environment's proxy."""

from __future__ import annotations

import pytest

from dglop.errors import ConfigError
from dglop.runtime.client.proxies import environment_proxy

PROXY = "http://proxy.example:3128"


@pytest.mark.parametrize(
    "no_proxy",
    [
        "*",
        "10.0.0.0/8",
        "other, 10.96.0.0/12 ,third",
        "10.96.0.1",
        "10.96.0.1:443",
        "10.96.0.99/12",
    ],
)
def test_an_address_in_no_proxy_is_asked_directly(no_proxy: str) -> None:
    assert environment_proxy("https://10.96.0.1:443", {"HTTPS_PROXY": PROXY, "NO_PROXY": no_proxy}) is None


@pytest.mark.parametrize(
    "no_proxy", ["", "11.0.0.0/8", "10.96.0.1:6443", "10.96.0", "10.0.0.0/nonsense", "::1/128", "svc", ","]
)
def test_any_other_address_is_asked_through_the_proxy(no_proxy: str) -> None:
    assert environment_proxy("https://10.96.0.1", {"HTTPS_PROXY": PROXY, "NO_PROXY": no_proxy}) == PROXY


@pytest.mark.parametrize(
    ("host", "no_proxy", "is_direct"),
    [
        ("https://api.example.com", "example.com", True),
        ("https://example.com", "example.com", True),
        ("https://API.Example.COM.", "Example.com", True),
        ("https://api.example.com", ".example.com", True),
        ("https://api.example.com", "*.example.com", True),
        ("https://example.com", ".example.com", False),
        ("https://myexample.com", "example.com", False),
        ("https://api.example.com:6443", "example.com:443", False),
        ("https://api.example.com:6443", "example.com:6443", True),
        ("https://[fd00::1]:6443", "fd00::/8", True),
        ("https://[fd00::1]:6443", "[fd00::1]:6443", True),
        ("https://[fd00::1]:6443", "fd00::1", True),
        ("https://localhost:6443", "", True),
        ("https://127.8.8.8:6443", "", True),
        ("https://[::1]:6443", "", True),
    ],
)
def test_names_and_ports_in_no_proxy_are_read_as_kubectl_reads_them(
    host: str, no_proxy: str, is_direct: bool
) -> None:
    found = environment_proxy(host, {"HTTPS_PROXY": PROXY, "NO_PROXY": no_proxy})
    assert found == (None if is_direct else PROXY)


def test_the_scheme_says_which_variable_counts_in_capitals_before_small_letters() -> None:
    env = {"HTTPS_PROXY": "a:1", "https_proxy": "http://b:2", "http_proxy": " http://c:3 "}
    assert environment_proxy("https://api.example", env) == "http://a:1"
    assert environment_proxy("http://api.example", env) == "http://c:3"
    assert environment_proxy("https://api.example", {**env, "HTTPS_PROXY": ""}) == "http://b:2"
    assert environment_proxy("https://api.example", {"ALL_PROXY": PROXY}) is None


def test_a_proxy_that_cannot_be_asked_is_refused_only_where_it_would_be() -> None:
    env = {"HTTPS_PROXY": "socks5://proxy.example:1", "NO_PROXY": "10.0.0.0/8"}
    assert environment_proxy("https://10.1.2.3", env) is None
    with pytest.raises(ConfigError, match="HTTPS_PROXY cannot be used: the proxy 'socks5:"):
        environment_proxy("https://api.example", env)

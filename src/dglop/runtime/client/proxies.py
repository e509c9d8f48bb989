# SPDX-License-Identifier: Apache-2.0
"""The proxy that the environment means for an API server, by the rules that kubectl has from Go."""

from __future__ import annotations

import os
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from dglop.errors import ConfigError
from dglop.runtime.client.usable import address_problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Address, IPv6Address

__all__ = ("environment_proxy",)

_PORTS = {"http": 80, "https": 443}


def environment_proxy(host: str, environ: Mapping[str, str] | None = None) -> str | None:
    """
    The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or these in small letters, mean for the URL *host*.

    None for this machine itself, and for what NO_PROXY has: a domain with all below it, a domain with a dot
    before it for those below alone, an address, a network such as 10.0.0.0/8, each but the last perhaps with
    a port; or * for all. Python knows no networks there, yet that is how clusters' addresses are written.
    Raises ConfigError for a proxy that cannot be asked.
    """
    env, url = os.environ if environ is None else environ, urlsplit(host)
    name = f"{url.scheme.upper()}_PROXY"
    proxy = _variable(env, name)
    if not proxy or _is_direct(
        url.hostname or "", url.port or _PORTS.get(url.scheme, 0), _variable(env, "NO_PROXY")
    ):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    problem = address_problem("proxy", proxy)
    if problem:
        raise ConfigError(f"the variable {name} cannot be used: {problem}")
    return proxy


def _variable(env: Mapping[str, str], name: str) -> str:
    return (env.get(name) or env.get(name.lower()) or "").strip()


def _is_direct(host: str, port: int, no_proxy: str) -> bool:
    host, address = host.rstrip("."), _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_matches(entry.strip().lower(), host, address, port) for entry in no_proxy.split(","))


def _matches(entry: str, host: str, address: IPv4Address | IPv6Address | None, port: int) -> bool:
    if entry in ("", "*"):
        return entry == "*"
    if "/" in entry:
        return address is not None and _is_within(address, entry)
    name, wanted = _split(entry)
    if wanted not in ("", str(port)):
        return False
    if (own := _address(name)) is not None:
        return own == address
    name = name.removeprefix("*")
    if name.startswith("."):
        return host.endswith(name)
    return host == name or host.endswith(f".{name}")


def _split(entry: str) -> tuple[str, str]:
    """A name and its port; an IPv6 address has brackets before a port."""
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name, rest.removeprefix(":")
    if entry.count(":") != 1:
        return entry, ""
    name, _, port = entry.partition(":")
    return name, port


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _is_within(address: IPv4Address | IPv6Address, network: str) -> bool:
    try:
        return address in ip_network(network, strict=False)
    except ValueError:
        return False

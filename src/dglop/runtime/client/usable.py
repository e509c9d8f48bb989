# SPDX-License-Identifier: Apache-2.0
"""What can never work is found before the first request: addresses, proxies and headers as they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from dglop.runtime.client.endpoint import Endpoint

__all__ = ("address_problem", "endpoint_problem", "header_problem")

_SCHEMES = ("http", "https")


def endpoint_problem(endpoint: Endpoint) -> str:
    """Why no request can be sent to *endpoint*, and what to do; "" where one can."""
    problem = address_problem("server", endpoint.host)
    if not problem and endpoint.proxy:
        problem = address_problem("proxy", endpoint.proxy)
    if not problem and endpoint.authorization:
        problem = header_problem("token", endpoint.authorization, strict=True)
    for name, value in () if problem else endpoint.impersonation:
        problem = problem or header_problem(name, value)
    return problem


def address_problem(what: str, url: str) -> str:
    """Why *url* is no address of a *what* that can be asked; "" where it is one."""
    wanted = f"write it as https://{what}.example:443"
    if any(each <= " " or each == "\x7f" for each in url):
        return f"the {what} {url!r} has a blank or a control character; {wanted}"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as problem:
        return f"the {what} {url!r} is no URL: {problem}; {wanted}"
    if parts.scheme not in _SCHEMES:
        return f"the {what} {url!r} is not reached by http or https; {wanted}"
    if not parts.hostname or port == 0:
        return f"the {what} {url!r} names no {'host' if port != 0 else 'port'}; {wanted}"
    if what == "server" and (parts.query or parts.fragment):
        return f"the {what} {url!r} has more than a host, a port and a path; {wanted}"
    return ""


def header_problem(what: str, value: str, *, strict: bool = False) -> str:
    """Why *value* cannot be sent in a header; the value, which may be secret, is not told."""
    if any(each < " " or each == "\x7f" for each in value):
        return f"the {what} has a line break or a control character in it"
    if strict and not value.isascii():
        return f"the {what} has characters that are not ASCII"
    return ""

# SPDX-License-Identifier: Apache-2.0
"""From what goes wrong on the way to the API server to a typed error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp

from dglop.errors import ApiConnectionError, ApiTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("mapped",)


@contextmanager
def mapped(call: object, *, connect_seconds: float) -> Iterator[None]:
    """Turns the transport's errors into ours; `sent` is False only if nothing can have arrived."""
    try:
        yield
    except aiohttp.ClientConnectorCertificateError as problem:
        raise ApiConnectionError(
            f"{call}: the server's certificate was refused: {problem}; "
            "if the CA is right but old in form, set tls_strict=False",
            sent=False,
        ) from problem
    except aiohttp.ClientConnectorError as problem:
        raise ApiConnectionError(f"{call}: {problem}", sent=False) from problem
    except aiohttp.ConnectionTimeoutError as problem:
        raise ApiTimeoutError(f"{call}: no connection within {connect_seconds:g} s", sent=False) from problem
    except TimeoutError as problem:
        raise ApiTimeoutError(f"{call}: no answer in time: {problem or 'deadline exceeded'}") from problem
    except (aiohttp.ClientError, OSError) as problem:
        raise ApiConnectionError(f"{call}: {type(problem).__name__}: {problem}", sent=True) from problem

# SPDX-License-Identifier: Apache-2.0
"""Whether a part answers 200 at its health address."""

from __future__ import annotations

import http.client
import ssl
from urllib.parse import urlsplit

__all__ = ("answers",)

PATIENCE = 5.0


def answers(url: str) -> bool:
    """Ask once. Certificates are not checked: nothing but a yes or no is taken from the answer."""
    where = urlsplit(url)
    connection: http.client.HTTPConnection
    host, port = where.hostname or "", where.port or 0
    if where.scheme == "https":
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, port, timeout=PATIENCE, context=trusting)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
    try:
        connection.request("GET", where.path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()

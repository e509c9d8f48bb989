# SPDX-License-Identifier: Apache-2.0
"""A certificate that nobody vouches for, for a server that is given none; it still hides what is said."""

from __future__ import annotations

import ipaddress
import os
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from dglop.errors import ConfigError
from dglop.runtime.certwatch import server_context

if TYPE_CHECKING:
    import asyncio
    import ssl
    from datetime import datetime

__all__ = ("SelfSigned", "make_pair")

VALID = timedelta(days=365)


class SelfSigned:
    """
    The TLS context of a server, for localhost and a year, made at the start and kept in memory only.

    Raises ConfigError if the package `cryptography` is not installed.
    """

    def __init__(self, now: datetime) -> None:
        self.context: ssl.SSLContext = _context(*make_pair(now))

    async def run(self, stop: asyncio.Event) -> None:
        """Nothing to look after; return when *stop* is set."""
        await stop.wait()


def make_pair(now: datetime) -> tuple[bytes, bytes]:
    """A certificate and its key in PEM, valid since an hour before *now*. Raises ConfigError as above."""
    try:
        # Here, since only this needs the extra that brings it.
        from cryptography import x509  # noqa: PLC0415
        from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    except ImportError as missing:
        raise ConfigError(
            "to make a certificate of one's own, install dglop[tls], which brings cryptography"
        ) from missing
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    secret = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
    return certificate.public_bytes(encoding), secret


def _context(cert: bytes, key: bytes) -> ssl.SSLContext:
    # OpenSSL reads files only, and a pod's disk may be read-only: these two are in memory.
    with ExitStack() as stack:
        paths = []
        for content in (cert, key):
            file = stack.enter_context(os.fdopen(os.memfd_create("pem"), "wb"))
            file.write(content)
            file.flush()
            paths.append(Path(f"/proc/self/fd/{file.fileno()}"))
        return server_context(*paths)

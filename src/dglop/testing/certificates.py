# SPDX-License-Identifier: Apache-2.0
"""Certificates for servers in tests and at home, signed by an authority made for the occasion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trustme

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ("ServingCertificates",)


class ServingCertificates:
    """
    A folder with `tls.crt`, `tls.key` and `ca.crt`, as cert-manager mounts it, for the given names.

    Assumptions: the folder exists; names are host names or IP addresses, loopback by default.
    """

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        self._names = names or ("127.0.0.1", "localhost")
        self._authority = trustme.CA()
        self.renew_authority()

    @property
    def ca_bundle(self) -> bytes:
        """The authority's certificate in PEM: what clients must trust."""
        return self._authority.cert_pem.bytes()

    def renew_authority(self) -> None:
        """Replace all three files; who trusts the old `ca_bundle` does not trust the new certificate."""
        self._authority = trustme.CA()
        self._write("ca.crt", self.ca_bundle)
        self.renew()

    def renew(self) -> None:
        """Replace certificate and key by new ones of the same authority."""
        leaf = self._authority.issue_cert(*self._names)
        self._write("tls.crt", b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
        self._write("tls.key", leaf.private_key_pem.bytes())

    def spoil(self) -> None:
        """Replace the certificate alone, so that the key does not fit it any more."""
        leaf = self._authority.issue_cert(*self._names)
        self._write("tls.crt", leaf.cert_chain_pems[0].bytes())

    def _write(self, name: str, content: bytes) -> None:
        # In one step, so that nobody reads half a file.
        beside = self.folder / f".{name}"
        beside.write_bytes(content)
        beside.replace(self.folder / name)

# SPDX-License-Identifier: Apache-2.0
"""Where an API server is and how to speak to it: plain values, wherever they were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.runtime.client.tokens import TokenFile

__all__ = ("Endpoint", "Loaded")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API server; paths are of PEM files."""

    host: str
    ca_file: str | None = None
    """Whom to trust; by default the authorities that the system trusts."""
    cert_file: str | None = None
    key_file: str | None = None
    authorization: str | None = None
    """The Authorization header, where it comes from no file that is read again."""
    verify: bool = True
    server_name: str | None = None
    """The name that the server's certificate is for, where it is not the host's."""
    proxy: str | None = None
    impersonation: tuple[tuple[str, str], ...] = ()
    """The headers by which the credentials' owner acts as another."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """One reading of the configuration; it is read anew when credentials or files change."""

    endpoint: Endpoint
    namespace: str
    token_file: TokenFile | None = None
    expires: datetime | None = None
    strict: bool = True
    """Whether certificates of an old form are refused, as Python 3.13 does."""
    context: str | None = None
    """The kubeconfig's context that it is of."""

    @property
    def host(self) -> str:
        return self.endpoint.host

    @property
    def files(self) -> tuple[str, ...]:
        """CA, certificate and key files, whose change means new connections."""
        found = (self.endpoint.ca_file, self.endpoint.cert_file, self.endpoint.key_file)
        return tuple(each for each in found if each)

    def authorization(self) -> str | None:
        """The Authorization header as of now."""
        if self.token_file is not None:
            return f"Bearer {self.token_file.current()}"
        return self.endpoint.authorization

    def is_expired(self, now: datetime) -> bool:
        return self.expires is not None and now >= self.expires

# SPDX-License-Identifier: Apache-2.0
"""Where the API server is and who we are: what a program may say about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ("ClientConfig",)

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """How to find the API server.

    The first of these that is there is taken: `host`, `kubeconfig`, the variable KUBECONFIG, the pod's
    service account, ~/.kube/config.
    """

    kubeconfig: str | None = None
    """Path of a kubeconfig, or several with colons between."""
    context: str | None = None
    """The kubeconfig's context, if not the current one."""
    namespace: str | None = None
    """The default namespace, if not the context's or the service account's."""
    host: str | None = None
    """URL of an API server, with `token_file` and `ca_file` for it."""
    token_file: Path | None = None
    ca_file: Path | None = None
    service_account: Path = _SERVICE_ACCOUNT
    """Where the service account is mounted."""
    tls_strict: bool = True
    """Python 3.13 refuses certificates that RFC 5280 forbids, such as a CA without a key identifier.
    False accepts them; chain and host name are checked all the same."""
    token_reread_seconds: float = 60.0
    """How old a token read from a file may get."""
    files_recheck_seconds: float = 10.0
    """How often CA and certificate files are looked at for change."""
    gzip: bool = False
    """Whether answers may come compressed: less traffic for more CPU time on both sides."""
    qps: float = 0.0
    """Requests a second that this client allows itself; 0 leaves it to the API server's own fairness."""
    burst: int = 10
    """How many may go at once before `qps` holds."""

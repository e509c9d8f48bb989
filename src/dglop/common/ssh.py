# SPDX-License-Identifier: Apache-2.0
"""The ssh keys of a job: one pair with which its pods log in to each other, in a Secret of its own."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dglop.errors import ConfigError

if TYPE_CHECKING:
    from dglop.runtime.api import RawContainer, RawPod

__all__ = ("SSHKeys", "mount_ssh", "require_cryptography", "ssh_keys", "ssh_secret", "ssh_secret_name")

VOLUME: Final = "dglop-ssh"
_PRIVATE: Final = "ssh-privatekey"
_PUBLIC: Final = "ssh-publickey"
_ITEMS: Final = ((_PRIVATE, "id_rsa"), (_PUBLIC, "id_rsa.pub"), (_PUBLIC, "authorized_keys"))
_ROOT: Final = "/root/.ssh"


@dataclass(frozen=True, slots=True)
class SSHKeys:
    """A pair of keys as ssh reads them: PEM, and a line of authorized_keys."""

    private: str
    public: str

    def __repr__(self) -> str:
        return f"SSHKeys(public={self.public!r})"


def require_cryptography() -> None:
    """Raises ConfigError where the library that makes keys is not installed."""
    try:
        import cryptography  # noqa: F401, PLC0415 - an extra, needed by kinds that use ssh alone
    except ImportError as error:
        raise ConfigError("ssh keys need the package cryptography: install dglop[tls]") from error


def ssh_keys(seed: bytes) -> SSHKeys:
    """The ECDSA P-521 pair of a seed: the same seed gives the same pair, so that none need be stored.

    Raises ValueError for a seed of less than 32 bytes.
    """
    # Only where keys are made: the library is an extra, and takes its time to load.
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    if len(seed) < 32:
        raise ValueError(f"a seed of ssh keys needs 32 bytes or more, not {len(seed)}")
    # Twice as many bits as the key has, so that no number is likelier than another.
    wide = b"".join(hmac.new(seed, b"ssh:%d" % part, hashlib.sha512).digest() for part in range(2))
    curve = ec.SECP521R1()
    number = int.from_bytes(wide, "big") % (curve.group_order - 1) + 1
    key = ec.derive_private_key(number, curve)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return SSHKeys(private.decode(), public.decode() + "\n")


def ssh_secret_name(job: str, uid: str) -> str:
    """The Secret's name; it carries the job's UID, so that one that is there already is this job's own."""
    return f"{job}-ssh-{uid[:8]}"


def ssh_secret(job: str, uid: str, seed: bytes) -> dict[str, Any]:
    """The Secret of a job's keys."""
    keys = ssh_keys(seed)
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": ssh_secret_name(job, uid)},
        "type": "kubernetes.io/ssh-auth",
        "immutable": True,
        "stringData": {_PRIVATE: keys.private, _PUBLIC: keys.public},
    }


def mount_ssh(pod: RawPod, container: RawContainer, *, secret: str, path: str) -> None:
    """Mount the keys as id_rsa, id_rsa.pub and authorized_keys.

    ssh refuses a private key of its own user's that others may read. The files are root's, so that only
    root meets that; who is not root could not read them otherwise.
    """
    source: dict[str, Any] = {
        "secretName": secret,
        "items": [{"key": key, "path": name} for key, name in _ITEMS],
    }
    if _user(pod, container) == 0 or (_user(pod, container) is None and path.rstrip("/") == _ROOT):
        source["defaultMode"] = 0o600
    pod.volume(VOLUME, {"secret": source})
    container.mount(VOLUME, path, read_only=True)


def _user(pod: RawPod, container: RawContainer) -> int | None:
    """The user that the template names; None: the image's."""
    for context in (container.data.get("securityContext"), pod.spec.get("securityContext")):
        user = context.get("runAsUser") if isinstance(context, dict) else None
        if isinstance(user, int):
            return user
    return None

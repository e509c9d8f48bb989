# SPDX-License-Identifier: Apache-2.0
"""The operator's own key: a Secret beside it, made at the first start and read ever after."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING, Final

from dglop.common.constants import SECRET
from dglop.errors import AlreadyExistsError, ConfigError
from dglop.runtime.api import Rule
from dglop.runtime.rights import needs

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.client import Client

__all__ = ("KEY_RULES", "KEY_SECRET", "OperatorKey", "operator_key")

KEY_SECRET: Final = "dglop-operator-key"  # noqa: S105 - the Secret's name
"""The name of the Secret with the key."""
_FIELD: Final = "key"

KEY_RULES: Final = (Rule.of(SECRET, "create"), Rule.of(SECRET, "get", names=(KEY_SECRET,)))
"""What loading it must be allowed, in the operator's own namespace."""


class OperatorKey:
    """Seeds of jobs' own secrets, under the key that `load` brings at start; the same on every replica."""

    def __init__(self, namespace: str, fresh: Callable[[], bytes]) -> None:
        self._namespace = namespace
        self._fresh = fresh
        self._key = b""

    @needs(*KEY_RULES)
    async def load(self, client: Client) -> None:
        """Read the key, or make it. Raises ConfigError, ApiError; see `operator_key`."""
        self._key = await operator_key(client, self._namespace or client.namespace, self._fresh())

    def seed(self, uid: str) -> bytes:
        """64 bytes for the job with this UID that nobody can tell who does not have the key."""
        if not self._key:
            raise ConfigError("the operator's key is not loaded yet; it is at the Manager's start")
        if not uid:
            raise ValueError("a job without a UID has no seed; it must come from the API server")
        return hmac.new(self._key, f"{uid}:seed".encode(), hashlib.sha512).digest()


async def operator_key(client: Client, namespace: str, fresh: bytes) -> bytes:
    """The key that all replicas share: `fresh` if there is none yet.

    Raises ConfigError where the Secret is there but holds no key, ApiError where it cannot be read.
    """
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": KEY_SECRET, "namespace": namespace},
        "type": "Opaque",
        "immutable": True,
        "data": {_FIELD: base64.b64encode(fresh).decode()},
    }
    try:
        await client.create(manifest)
    except AlreadyExistsError:
        found = await client.get(SECRET, KEY_SECRET, namespace)
    else:
        return fresh
    try:
        return base64.b64decode(found["data"][_FIELD], validate=True)
    except (KeyError, TypeError, ValueError) as problem:
        raise ConfigError(
            f"Secret {namespace}/{KEY_SECRET} holds no base64 key under {_FIELD!r}; "
            "delete it and restart the operator, which then makes a new one"
        ) from problem

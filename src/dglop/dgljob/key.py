# SPDX-License-Identifier: Apache-2.0
"""The operator's own key: a Secret beside it, made at the first start and read ever after."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from dglop.common.constants import SECRET
from dglop.dgljob.rbac import KEY_SECRET
from dglop.dgljob.tokens import Tokens
from dglop.errors import AlreadyExistsError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.client import Client

__all__ = ("OperatorTokens", "operator_key")

_FIELD = "key"


class OperatorTokens:
    """Tokens under the operator's key, which `load` brings at start; the same on every replica."""

    def __init__(self, namespace: str, fresh: Callable[[], bytes]) -> None:
        self._namespace = namespace
        self._fresh = fresh
        self._tokens: Tokens | None = None

    async def load(self, client: Client) -> None:
        """Read the key, or make it. Raises ConfigError, ApiError; see `operator_key`."""
        key = await operator_key(client, self._namespace or client.namespace, self._fresh())
        self._tokens = Tokens(key)

    def parts(self, uid: str) -> str:
        return self._loaded().parts(uid)

    def status(self, uid: str) -> str:
        return self._loaded().status(uid)

    def is_status(self, token: str, uid: str) -> bool:
        return self._loaded().is_status(token, uid)

    def _loaded(self) -> Tokens:
        if self._tokens is None:
            raise ConfigError("the operator's key is not loaded yet; it is at the Manager's start")
        return self._tokens


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

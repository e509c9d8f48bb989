# SPDX-License-Identifier: Apache-2.0
"""Tokens under the operator's own key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.key import KEY_RULES, operator_key
from dglop.dgljob.tokens import Tokens
from dglop.errors import ConfigError
from dglop.runtime.rights import needs

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.client import Client

__all__ = ("OperatorTokens",)


class OperatorTokens:
    """Tokens under the operator's key, which `load` brings at start; the same on every replica."""

    def __init__(self, namespace: str, fresh: Callable[[], bytes]) -> None:
        self._namespace = namespace
        self._fresh = fresh
        self._tokens: Tokens | None = None

    @needs(*KEY_RULES)
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

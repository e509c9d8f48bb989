# SPDX-License-Identifier: Apache-2.0
"""Cluster: one more API server that a Manager's controllers look at and write to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.errors import CacheNotSyncedError, ConfigError
from dglop.runtime.cache import CacheOptions

if TYPE_CHECKING:
    from dglop.runtime.cache import Cache
    from dglop.runtime.client import Client, ClientConfig
    from dglop.runtime.environment import Site
    from dglop.runtime.events import EventRecorder
    from dglop.runtime.reader import Reader

__all__ = ("Cluster",)


class Cluster:
    """
    A cluster beside the Manager's own, with a client, a cache and a recorder. Made by `Manager.cluster`.

    They come with the Manager's start and end with it; a *client* that was given is left open. The lease is
    in the Manager's own cluster alone, and CRDs and webhooks are installed there alone.
    """

    def __init__(
        self,
        name: str,
        *,
        config: ClientConfig | None = None,
        client: Client | None = None,
        cache: CacheOptions | None = None,
    ) -> None:
        if (config is None) == (client is None):
            raise ConfigError(f"the cluster {name} needs either a config or a client")
        self.name = name
        self.config = config
        self.given_client = client
        self.options: CacheOptions = cache or CacheOptions()
        self._site: Site | None = None

    def __repr__(self) -> str:
        return f"Cluster({self.name})"

    @property
    def client(self) -> Client:
        """The client, whose reads all go to the API server. Raises CacheNotSyncedError before the start."""
        return self.given_client or self._started().client

    @property
    def cache(self) -> Cache:
        """Raises CacheNotSyncedError before the start."""
        return self._started().cache

    @property
    def reader(self) -> Reader:
        """Raises CacheNotSyncedError before the start."""
        return self._started().reader

    @property
    def recorder(self) -> EventRecorder:
        """Raises CacheNotSyncedError before the start."""
        return self._started().recorder

    def started(self, site: Site) -> None:
        """Take what the Manager made; it calls this at its start."""
        self._site = site

    def _started(self) -> Site:
        if self._site is None:
            raise CacheNotSyncedError(
                f"the manager of the cluster {self.name} does not run yet; "
                "client and cache come with its start"
            )
        return self._site

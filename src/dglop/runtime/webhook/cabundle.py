# SPDX-License-Identifier: Apache-2.0
"""Keeps the CA bundle in webhook configurations and CRDs that of the file beside the certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.errors import ApiError, ConfigError
from dglop.runtime.clock import repeat
from dglop.runtime.webhook.install import read_bundle, write_ca_bundle

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log
    from dglop.runtime.webhook.install import Installed

__all__ = ("CABundleKeeper",)

PERIOD_SECONDS = 10.0


class CABundleKeeper:
    """
    A Runnable that writes `ca.crt`, whenever it changes, into what names the webhooks.

    Guarantees: what could not be written is told in the log and tried again at the next look; a file that is
    missing or no PEM leaves the last good bundle.
    """

    name = "ca-bundle"

    def __init__(
        self,
        path: Path,
        installed: Sequence[Installed],
        known: bytes,
        *,
        client: Client,
        clock: Clock,
        log: Log,
    ) -> None:
        self._path = path
        self._installed = installed
        self._known = known
        self._client = client
        self._clock = clock
        self._log = log

    async def run(self, stop: asyncio.Event) -> None:
        """Look every ten seconds until *stop* is set."""
        await repeat(self._clock, PERIOD_SECONDS, self.check, stop)

    async def check(self) -> None:
        """Write the bundle if the file has another one."""
        try:
            bundle = await read_bundle(self._path)
            if not bundle or bundle == self._known:
                return
            for each in self._installed:
                if await write_ca_bundle(self._client, each.resource, each.name, bundle):
                    self._log.info("Wrote the new CA bundle", into=str(each))
        except (ApiError, ConfigError, OSError) as error:
            self._log.warning("Could not write the new CA bundle", error=f"{type(error).__name__}: {error}")
            return
        self._known = bundle

# SPDX-License-Identifier: Apache-2.0
"""The servers of a Manager: metrics, health, and webhooks if there are any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dglop.errors import ConfigError
from dglop.runtime.access import AccessGuard, guarded
from dglop.runtime.certwatch import CertWatcher
from dglop.runtime.health import health_routes, metrics_routes
from dglop.runtime.serving import HTTPServer, parse_bind
from dglop.runtime.webhook import WebhookServer

if TYPE_CHECKING:
    from dglop.runtime.manager import Manager

__all__ = ("Server", "http_servers", "webhook_server")


class Server(Protocol):
    """Something that listens from its start to its stop."""

    @property
    def port(self) -> int | None: ...
    async def start(self) -> None: ...
    async def stop(self) -> None: ...


def http_servers(manager: Manager) -> dict[str, Server]:
    """The servers that come first, by name. Raises ConfigError for settings that do not fit."""
    health = [
        *health_routes("/healthz", manager.live_checks),
        *health_routes("/readyz", manager.ready_checks),
    ]
    server = HTTPServer(manager.settings.health_bind, health, name="health", log=manager.log)
    return {"metrics": _metrics_server(manager), "health": server}


def webhook_server(manager: Manager) -> WebhookServer | None:
    """The webhook server, or None if no webhook was registered. Raises ConfigError without a certificate."""
    if not manager.webhooks:
        return None
    settings = manager.settings
    if parse_bind(settings.webhook_bind) is None:
        raise ConfigError("webhooks were registered, so --webhook-bind must name an address, not 0")
    return WebhookServer(
        manager.webhooks,
        bind=settings.webhook_bind,
        certs=_folder(settings.webhook_cert_path, "--webhook-cert-path", "the webhooks"),
        client=lambda: manager.client,
        clock=manager.clock,
        log=manager.log,
        metrics=manager.metrics,
    )


def _metrics_server(manager: Manager) -> HTTPServer:
    settings, log = manager.settings, manager.log
    routes = metrics_routes(manager.metrics.registry)
    if not settings.metrics_secure or parse_bind(settings.metrics_bind) is None:
        return HTTPServer(settings.metrics_bind, routes, name="metrics", log=log)
    folder = _folder(settings.metrics_cert_path, "--metrics-cert-path", "secure metrics")
    tls = CertWatcher(folder, clock=manager.clock, log=log, metrics=manager.metrics)
    guard = AccessGuard(lambda: manager.client, clock=manager.clock, log=log)
    return HTTPServer(settings.metrics_bind, guarded(routes, guard), name="metrics", log=log, tls=tls)


def _folder(path: str, flag: str, what: str) -> Path:
    if not path:
        raise ConfigError(f"{flag} is missing: {what} need a folder with tls.crt and tls.key in it")
    return Path(path)

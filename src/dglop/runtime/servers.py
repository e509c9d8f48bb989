# SPDX-License-Identifier: Apache-2.0
"""The servers of a Manager: metrics, health, and webhooks if there are any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dglop.errors import ConfigError
from dglop.runtime.access import ACCESS_RULES, AccessGuard, guarded
from dglop.runtime.api import Rule
from dglop.runtime.bind import parse_bind
from dglop.runtime.certwatch import CertWatcher
from dglop.runtime.controller import Controller
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.debug import debug_routes
from dglop.runtime.health import health_routes, metrics_routes
from dglop.runtime.selfsigned import SelfSigned
from dglop.runtime.serving import HTTPServer
from dglop.runtime.webhook import WebhookServer, install_webhooks, parse_target
from dglop.runtime.webhook.cabundle import CABundleKeeper
from dglop.runtime.webhook.install import CRD, MUTATING, VALIDATING, read_bundle

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.runtime.manager import Manager
    from dglop.runtime.runnable import Runnable
    from dglop.runtime.serving import Certificates, Server

__all__ = ("http_servers", "install", "server_rules", "webhook_server")


def http_servers(manager: Manager) -> dict[str, Server]:
    """The servers that come first, by name. Raises ConfigError for settings that do not fit."""
    health = [
        *health_routes("/healthz", manager.live_checks),
        *health_routes("/readyz", manager.ready_checks),
    ]
    server = HTTPServer(manager.settings.health_bind, health, name="health", log=manager.log)
    servers: dict[str, Server] = {"metrics": _metrics_server(manager), "health": server}
    if parse_bind(manager.settings.debug_bind) is not None:
        debug = HTTPServer(manager.settings.debug_bind, debug_routes(), name="debug", log=manager.log)
        servers["debug"] = debug
    return servers


def webhook_server(manager: Manager) -> WebhookServer | None:
    """The webhook server, or None if no webhook was registered. Raises ConfigError without a certificate."""
    if not manager.webhooks:
        return None
    settings = manager.settings
    if parse_bind(settings.webhook_bind) is None:
        raise ConfigError("webhooks were registered, so --webhook-bind must name an address, not 0")
    if not settings.webhook_cert_path:
        raise ConfigError(
            "--webhook-cert-path is missing: the webhooks need a folder with tls.crt and tls.key in it"
        )
    return WebhookServer(
        manager.webhooks,
        bind=settings.webhook_bind,
        certs=Path(settings.webhook_cert_path),
        client_ca=Path(settings.webhook_client_ca) if settings.webhook_client_ca else None,
        client=lambda: manager.client,
        clock=manager.clock,
        log=manager.log,
        metrics=manager.metrics,
    )


async def install(manager: Manager, client: Client) -> list[Runnable]:
    """
    Apply the CRDs of the Manager's kinds and, if they have a target, what leads the API server to webhooks.

    Gives what the leader has to run to keep that so. Raises ConfigError for a converted kind without a target
    and for a CRD that is not served, and ApiError.
    """
    settings, webhooks = manager.settings, manager.webhooks
    kinds = [each.kind for each in manager.controllers if isinstance(each, Controller)]
    if not settings.webhook_target or not (webhooks.hooks or webhooks.conversions):
        if webhooks.conversions:
            names = ", ".join(each.resource.group_resource for each in webhooks.conversions.values())
            raise ConfigError(f"the CRD of {names} must say where versions are converted: --webhook-target")
        manager.log.info("Installed CRDs", crds=await install_crds(client, kinds, manager.clock))
        return []
    ca_file = Path(settings.webhook_cert_path) / "ca.crt"
    bundle = await read_bundle(ca_file)
    installed = await install_webhooks(
        client,
        webhooks,
        parse_target(settings.webhook_target),
        manager.clock,
        name=manager.name,
        ca_bundle=bundle,
        kinds=kinds,
    )
    manager.log.info("Installed webhooks", into=[str(each) for each in installed])
    return [CABundleKeeper(ca_file, installed, bundle, client=client, clock=manager.clock, log=manager.log)]


def server_rules(manager: Manager) -> list[Rule]:
    """What the servers, and the installation of what leads to them, must be allowed in the whole cluster."""
    settings, webhooks = manager.settings, manager.webhooks
    rules = list(ACCESS_RULES) if settings.metrics_secure else []
    if not settings.install_crds:
        return rules
    rules.append(Rule.of(CRD, "create", "patch", "watch"))
    if webhooks.conversions:
        rules.append(Rule.of(CRD, "get"))  # a new CA bundle is written only if nobody changed it meanwhile
    for resource, mutating in ((MUTATING, True), (VALIDATING, False)):
        if settings.webhook_target and any(hook.mutating is mutating for hook in webhooks.hooks.values()):
            rules += [Rule.of(resource, "create"), Rule.of(resource, "get", "patch", names=(manager.name,))]
    return rules


def _metrics_server(manager: Manager) -> HTTPServer:
    settings, log = manager.settings, manager.log
    routes = metrics_routes(manager.metrics.registry)
    if not settings.metrics_secure or parse_bind(settings.metrics_bind) is None:
        return HTTPServer(settings.metrics_bind, routes, name="metrics", log=log)
    guard = AccessGuard(lambda: manager.client, clock=manager.clock, log=log)
    return HTTPServer(
        settings.metrics_bind, guarded(routes, guard), name="metrics", log=log, tls=_metrics_tls(manager)
    )


def _metrics_tls(manager: Manager) -> Certificates:
    path = manager.settings.metrics_cert_path
    if path:
        return CertWatcher(Path(path), clock=manager.clock, log=manager.log, metrics=manager.metrics)
    try:
        return SelfSigned(manager.clock.now())
    except ConfigError as error:
        raise ConfigError(
            "--metrics-cert-path is missing: secure metrics need a folder with tls.crt and tls.key in it; "
            f"{error}"
        ) from error

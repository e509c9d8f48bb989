# SPDX-License-Identifier: Apache-2.0
"""Manifests that tell the API server of webhooks, and the CA bundle in them."""

from __future__ import annotations

import base64
import copy
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dglop.errors import ConfigError
from dglop.runtime.webhook.conversion import PATH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.webhook.registry import Hook

__all__ = (
    "ServiceTarget",
    "Target",
    "UrlTarget",
    "configuration",
    "parse_target",
    "with_ca_bundle",
    "with_conversion",
)

_API = "admissionregistration.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class ServiceTarget:
    """A webhook server behind a Service; its certificate must be for `<name>.<namespace>.svc`."""

    name: str
    namespace: str
    port: int = 443

    def to_wire(self, path: str) -> dict[str, Any]:
        """The clientConfig for *path*."""
        service = {"name": self.name, "namespace": self.namespace, "port": self.port, "path": path}
        return {"service": service}


@dataclass(frozen=True, slots=True)
class UrlTarget:
    """A webhook server outside of the cluster, or on the API server's own machine: `https://host:port`."""

    url: str

    def __post_init__(self) -> None:
        if not self.url.startswith("https://"):
            raise ConfigError(f"{self.url!r} cannot be called: the API server wants https:// for webhooks")

    def to_wire(self, path: str) -> dict[str, Any]:
        """The clientConfig for *path*."""
        return {"url": self.url.rstrip("/") + path}


Target: TypeAlias = ServiceTarget | UrlTarget
"""How the API server reaches a webhook server."""


def parse_target(words: str) -> Target:
    """
    The target that `https://host:port`, `name.namespace` or `name.namespace:port` means.

    A Service's name may end in `.svc`, as in certificates. Raises ConfigError for anything else.
    """
    if words.startswith("https://"):
        return UrlTarget(words)
    parts = re.fullmatch(r"([a-z0-9-]+)\.([a-z0-9-]+)(?:\.svc)?(?::(\d+))?", words)
    if parts is None:
        raise ConfigError(
            f"{words!r} is no place for webhooks; write https://host:port or name.namespace:port"
        )
    return ServiceTarget(parts[1], parts[2], int(parts[3] or 443))


def configuration(
    hooks: Iterable[Hook], target: Target, *, name: str, mutating: bool, ca_bundle: bytes = b""
) -> dict[str, Any]:
    """The MutatingWebhookConfiguration, or ValidatingWebhookConfiguration, of *hooks*."""
    entries = [
        {
            "name": hook.name,
            "clientConfig": target.to_wire(hook.path),
            "rules": [rule.to_wire() for rule in hook.rules],
            **hook.options.to_wire(mutating=mutating),
        }
        for hook in hooks
    ]
    kind = "MutatingWebhookConfiguration" if mutating else "ValidatingWebhookConfiguration"
    manifest = {"apiVersion": _API, "kind": kind, "metadata": {"name": name}, "webhooks": entries}
    return with_ca_bundle(manifest, ca_bundle) if ca_bundle else manifest


def with_conversion(crd: dict[str, Any], target: Target, *, ca_bundle: bytes = b"") -> dict[str, Any]:
    """The CRD *crd*, with its versions converted by the webhook."""
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": target.to_wire(PATH)}
    manifest = {**crd, "spec": {**crd["spec"], "conversion": {"strategy": "Webhook", "webhook": webhook}}}
    return with_ca_bundle(manifest, ca_bundle) if ca_bundle else manifest


def with_ca_bundle(manifest: dict[str, Any], ca_bundle: bytes) -> dict[str, Any]:
    """A copy of a webhook configuration, or of a CRD with conversion, that trusts *ca_bundle* (PEM)."""
    result = copy.deepcopy(manifest)
    found = [entry["clientConfig"] for entry in result.get("webhooks") or ()]
    conversion = (result.get("spec") or {}).get("conversion") or {}
    if conversion.get("webhook"):
        found.append(conversion["webhook"]["clientConfig"])
    if not found:
        raise ConfigError(f"{manifest.get('kind')} names no webhook, so there is no place for a CA bundle")
    for client_config in found:
        client_config["caBundle"] = base64.b64encode(ca_bundle).decode()
    return result

# SPDX-License-Identifier: Apache-2.0
"""Puts webhook configurations into the cluster, and a new CA bundle into those that are there."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dglop.errors import ConfigError
from dglop.runtime.api import Resource
from dglop.runtime.client import PatchType
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.webhook.manifests import with_ca_bundle

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.webhook.manifests import Target
    from dglop.runtime.webhook.registry import Webhooks

__all__ = ("CRD", "MUTATING", "VALIDATING", "install_webhooks", "read_bundle", "write_ca_bundle")

_GROUP = "admissionregistration.k8s.io"
MUTATING = Resource(_GROUP, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False)
VALIDATING = Resource(
    _GROUP, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", namespaced=False
)
CRD = Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)


@dataclass(frozen=True, slots=True)
class Installed:
    """Something in the cluster that names our webhooks."""

    resource: Resource
    name: str

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.name}"


async def install_webhooks(
    client: Client,
    webhooks: Webhooks,
    target: Target,
    clock: Clock,
    *,
    name: str,
    ca_bundle: bytes = b"",
    kinds: Iterable[type] = (),
) -> list[Installed]:
    """
    Apply the CRDs of *kinds* and of what is converted, then the webhook configurations; give what names us.

    *ca_bundle* is PEM; empty means that the API server trusts the certificate anyway. The server must serve
    already where *target* says: from now on requests fail without it. Raises ApiError, ConfigError.
    """
    crds = webhooks.crds(target, ca_bundle=ca_bundle)
    await install_crds(client, kinds, clock, manifests=crds)
    configurations = webhooks.manifests(target, name=name, ca_bundle=ca_bundle)
    for manifest in configurations:
        await client.apply(manifest)
    known = {each.kind: each for each in (CRD, MUTATING, VALIDATING)}
    return [
        Installed(known[manifest["kind"]], manifest["metadata"]["name"])
        for manifest in (*crds, *configurations)
    ]


async def write_ca_bundle(client: Client, resource: Resource, name: str, ca_bundle: bytes) -> bool:
    """
    Have the webhook configuration or CRD *name* trust *ca_bundle*; True if it did not yet.

    Written only if nobody changed the object meanwhile. Raises NotFoundError, ConflictError, and ConfigError
    if it names no webhook.
    """
    found: dict[str, Any] = await client.get(resource, name)
    wanted = with_ca_bundle(found, ca_bundle)
    if wanted == found:
        return False
    spec = {"conversion": wanted["spec"]["conversion"]} if "spec" in wanted else None
    body = {"webhooks": wanted["webhooks"]} if spec is None else {"spec": spec}
    body["metadata"] = {"resourceVersion": found["metadata"]["resourceVersion"]}
    await client.patch(resource, name, None, body, how=PatchType.MERGE)
    return True


async def read_bundle(path: Path) -> bytes:
    """The CA bundle in a file, b"" if there is none. Raises ConfigError for a file that is no PEM."""
    try:
        content = await asyncio.to_thread(path.read_bytes)
    except FileNotFoundError:
        return b""
    if b"-----BEGIN CERTIFICATE-----" not in content:
        raise ConfigError(f"{path} holds no certificate, so it is no CA bundle")
    return content

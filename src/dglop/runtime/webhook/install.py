# SPDX-License-Identifier: Apache-2.0
"""Puts webhook configurations into the cluster, and a new CA bundle into those that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.runtime.api import Resource
from dglop.runtime.client import PatchType
from dglop.runtime.webhook.manifests import with_ca_bundle

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.runtime.webhook.manifests import Target
    from dglop.runtime.webhook.registry import Webhooks

__all__ = ("CRD", "MUTATING", "VALIDATING", "install_webhooks", "write_ca_bundle")

_GROUP = "admissionregistration.k8s.io"
MUTATING = Resource(_GROUP, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False)
VALIDATING = Resource(
    _GROUP, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False
)
CRD = Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)


async def install_webhooks(
    client: Client, webhooks: Webhooks, target: Target, *, name: str, ca_bundle: bytes
) -> list[str]:
    """
    Apply the CRDs with conversion and the webhook configurations of *webhooks*; give what was applied.

    *ca_bundle* is PEM. The server must serve already where *target* says: from now on requests fail
    without it. Raises ApiError.
    """
    crds = webhooks.crds(target, ca_bundle=ca_bundle)
    manifests = [*crds, *webhooks.manifests(target, name=name, ca_bundle=ca_bundle)]
    for manifest in manifests:
        await client.apply(manifest)
    return [f"{manifest['kind']} {manifest['metadata']['name']}" for manifest in manifests]


async def write_ca_bundle(client: Client, resource: Resource, name: str, ca_bundle: bytes) -> bool:
    """
    Have the webhook configuration or CRD *name* trust *ca_bundle*; True if it did not yet.

    Written only if nobody changed the object meanwhile. Raises NotFoundError, ConflictError, ConfigError if
    it names no webhook.
    """
    found: dict[str, Any] = await client.get(resource, name)
    wanted = with_ca_bundle(found, ca_bundle)
    if wanted == found:
        return False
    part = "webhooks" if "webhooks" in wanted else "spec"
    body = {part: wanted[part] if part == "webhooks" else {"conversion": wanted["spec"]["conversion"]}}
    body["metadata"] = {"resourceVersion": found["metadata"]["resourceVersion"]}
    await client.patch(resource, name, None, body, how=PatchType.MERGE)
    return True

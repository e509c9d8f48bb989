# SPDX-License-Identifier: Apache-2.0
"""Puts the CRDs of one's own kinds into the cluster and waits until they are served."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.errors import ConfigError
from dglop.runtime.api import CustomResource, Resource, crd_manifest
from dglop.runtime.clock import within

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock

__all__ = ("install_crds", "is_established")

CRD = Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
ESTABLISH_SECONDS = 30.0


def is_established(crd: dict[str, Any]) -> bool:
    """Whether the API server serves the kind."""
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "Established" and c.get("status") == "True" for c in conditions)


async def install_crds(
    client: Client, kinds: Iterable[type], clock: Clock, *, manifests: Iterable[dict[str, Any]] = ()
) -> list[str]:
    """
    Apply the CRD of each CustomResource class among *kinds*; give their names.

    *manifests* are CRDs to apply as they are, in place of what the class alone would say. Raises ConfigError
    for a CRD that is not served within half a minute, and ApiError.
    """
    names = []
    wanted = [crd_manifest(kind) for kind in kinds if issubclass(kind, CustomResource)]
    by_name = {manifest["metadata"]["name"]: manifest for manifest in (*wanted, *manifests)}
    for manifest in by_name.values():
        crd = await client.apply(manifest)
        name = crd["metadata"]["name"]
        if not is_established(crd):
            try:
                await within(clock, ESTABLISH_SECONDS, _wait_established(client, name))
            except TimeoutError as error:
                raise ConfigError(
                    f"the API server does not serve {name} after {ESTABLISH_SECONDS:g} s; "
                    f"`kubectl describe crd {name}` says why"
                ) from error
        names.append(name)
    return names


async def _wait_established(client: Client, name: str) -> None:
    query = {"watch": "true", "fieldSelector": f"metadata.name={name}"}
    while True:
        # A watch without a version begins with what is there, so a change just before it is not missed.
        async with aclosing(client.batches(CRD.path(), query=query, read_idle=ESTABLISH_SECONDS)) as batches:
            async for lines in batches:
                events = [msgspec.json.decode(line) for line in lines]
                if any(is_established(event.get("object") or {}) for event in events):
                    return

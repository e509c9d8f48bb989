# SPDX-License-Identifier: Apache-2.0
"""Puts the CRDs of one's own kinds into the cluster and waits until they are served."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.errors import ConfigError, NoKindMatchError
from dglop.runtime.api import CustomResource, Resource, crd_manifest
from dglop.runtime.clock import within

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.api import Kind
    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock

__all__ = ("install_crds", "is_established", "versions_of")

CRD = Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
ESTABLISH_SECONDS = 30.0
_ASK_AGAIN_SECONDS = 0.1


def is_established(crd: dict[str, Any]) -> bool:
    """Whether the API server serves the kind."""
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "Established" and c.get("status") == "True" for c in conditions)


async def install_crds(
    client: Client, kinds: Iterable[Kind], clock: Clock, *, manifests: Iterable[dict[str, Any]] = ()
) -> list[str]:
    """
    Apply the CRD of each CustomResource class among *kinds*; give their names.

    Classes of one kind, each a version, make one CRD together. *manifests* are CRDs to apply as they are, in
    place of what the classes alone would say. Raises ConfigError for a CRD that is not served within half a
    minute, and ApiError.
    """
    made = [crd_manifest(*versions) for versions in versions_of(kinds)]
    by_name = {manifest["metadata"]["name"]: manifest for manifest in (*made, *manifests)}
    for name, manifest in by_name.items():
        crd = await client.apply(manifest)
        try:
            await within(clock, ESTABLISH_SECONDS, _wait_served(client, crd, clock))
        except TimeoutError as error:
            raise ConfigError(
                f"the API server does not serve {name} after {ESTABLISH_SECONDS:g} s; "
                f"`kubectl describe crd {name}` says why"
            ) from error
    return list(by_name)


async def _wait_served(client: Client, crd: dict[str, Any], clock: Clock) -> None:
    """Established, and in discovery too: that is told a moment later, and nothing tells of it."""
    if not is_established(crd):
        await _wait_established(client, crd["metadata"]["name"])
    spec = crd["spec"]
    for version in [each["name"] for each in spec["versions"] if each["served"]]:
        while True:
            try:
                await client.mapper.resource(spec["names"]["kind"], group=spec["group"], version=version)
                break
            except NoKindMatchError:
                await clock.sleep(_ASK_AGAIN_SECONDS)


def versions_of(kinds: Iterable[Kind]) -> list[tuple[type[CustomResource[Any, Any]], ...]]:
    """The CustomResource classes among *kinds*, those of one kind together; a Resource has no schema."""
    groups: dict[str, dict[type[CustomResource[Any, Any]], None]] = {}
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, CustomResource):
            groups.setdefault(kind.resource.group_resource, {})[kind] = None
    return [tuple(group) for group in groups.values()]


async def _wait_established(client: Client, name: str) -> None:
    query = {"watch": "true", "fieldSelector": f"metadata.name={name}"}
    while True:
        # A watch without a version begins with what is there, so a change just before it is not missed.
        async with aclosing(client.batches(CRD.path(), query=query, read_idle=ESTABLISH_SECONDS)) as batches:
            async for lines in batches:
                events = [msgspec.json.decode(line) for line in lines]
                if any(is_established(event.get("object") or {}) for event in events):
                    return

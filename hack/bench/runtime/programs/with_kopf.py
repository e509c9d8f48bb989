# SPDX-License-Identifier: Apache-2.0
"""The bench's work on kopf, which is in none of the project's own environments."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import kopf

from hack.bench.runtime.programs.marks import arguments, mark

if TYPE_CHECKING:
    import argparse

_ROUND = "bench.dglop.dev/round"


def _settle(registry: kopf.OperatorRegistry, options: argparse.Namespace) -> None:
    @kopf.on.startup(registry=registry)  # type: ignore[untyped-decorator, unused-ignore]
    async def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
        settings.posting.enabled = False
        settings.peering.priority = options.priority
        mark("standby")


def _indexed(registry: kopf.OperatorRegistry) -> None:
    def app(labels: Any, **_: Any) -> dict[str, None]:
        return {labels.get("app", ""): None}

    def tier(labels: Any, **_: Any) -> dict[str, None]:
        return {labels.get("tier", ""): None}

    def team(annotations: Any, **_: Any) -> dict[str, None]:
        return {annotations.get("team", ""): None}

    for name, function in (("app", app), ("tier", tier), ("team", team)):
        kopf.index("", "v1", "pods", id=name, registry=registry)(function)


def _following(registry: kopf.OperatorRegistry, options: argparse.Namespace) -> None:
    """Say when every object was seen, and when every one was seen changed."""
    seen: set[str] = set()
    changed: set[str] = set()

    @kopf.on.event("", "v1", "pods", registry=registry)  # type: ignore[untyped-decorator, unused-ignore]
    async def look(uid: str, annotations: Any, **_: Any) -> None:
        if annotations.get(_ROUND) == str(options.round):
            changed.add(uid)
            if len(changed) == options.count:
                mark("absorbed")
        if uid not in seen:
            seen.add(uid)
            if len(seen) == options.count:
                mark("synced")
                mark("settled")


def _serving(registry: kopf.OperatorRegistry) -> None:
    @kopf.on.event("bench.dglop.dev", "v1", "widgets", registry=registry)  # type: ignore[untyped-decorator, unused-ignore]
    async def finish(status: Any, patch: kopf.Patch, **_: Any) -> None:
        if status.get("phase") != "Done":
            patch.status["phase"] = "Done"


def main() -> None:
    options = arguments("sync", "events", "indexed", "serve")
    os.environ["KUBECONFIG"] = options.config
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(kopf.login_with_kubeconfig)
    _settle(registry, options)
    if options.work == "serve":
        _serving(registry)
    else:
        _following(registry, options)
    if options.work == "indexed":
        _indexed(registry)
    mark("begun")
    peering = {"peering_name": "bench"} if options.leader_elect else {"standalone": True}
    kopf.run(registry=registry, clusterwide=True, **peering)


if __name__ == "__main__":
    main()

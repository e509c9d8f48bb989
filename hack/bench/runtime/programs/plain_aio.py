# SPDX-License-Identifier: Apache-2.0
"""The bench's work as loops over the official client's coroutines, as its examples write them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from kubernetes.aio import client, config, watch

from hack.bench.runtime.programs.changes import Changes
from hack.bench.runtime.programs.marks import arguments, mark

if TYPE_CHECKING:
    import argparse

_WIDGETS = ("bench.dglop.dev", "v1", "widgets")


async def _follow(api: Any, options: argparse.Namespace) -> None:
    core: Any = client.CoreV1Api(api)
    pods: dict[tuple[str, str], Any] = {}
    changes = Changes(options.count)
    is_first = True
    while True:
        page = await core.list_pod_for_all_namespaces()
        for pod in page.items:
            changes.see(pods, pod)
        if is_first:
            is_first = False
            changes.begin()
            mark("synced")
            await asyncio.sleep(1)
            mark("settled")
        version = page.metadata.resource_version
        try:
            async for event in watch.Watch().stream(
                core.list_pod_for_all_namespaces, resource_version=version
            ):
                if event["type"] == "DELETED":
                    metadata = event["object"].metadata
                    pods.pop((metadata.namespace, metadata.name), None)
                else:
                    changes.see(pods, event["object"])
        except client.ApiException as error:
            if error.status != 410:
                raise


async def _serve(api: Any) -> None:
    widgets: Any = client.CustomObjectsApi(api)

    async def finish(widget: dict[str, Any]) -> None:
        if widget.get("status", {}).get("phase") != "Done":
            where = (widget["metadata"]["namespace"], _WIDGETS[2], widget["metadata"]["name"])
            done = {"status": {"phase": "Done"}}
            await widgets.patch_namespaced_custom_object_status(
                *_WIDGETS[:2], *where, done, _content_type="application/merge-patch+json"
            )

    page = await widgets.list_cluster_custom_object(*_WIDGETS)
    for widget in page["items"]:
        await finish(widget)
    version = page["metadata"]["resourceVersion"]
    async for event in watch.Watch().stream(
        widgets.list_cluster_custom_object, *_WIDGETS, resource_version=version
    ):
        if event["type"] != "DELETED":
            await finish(event["object"])


async def _run(options: argparse.Namespace) -> None:
    mark("begun")
    await config.load_kube_config(config_file=options.config)
    async with client.ApiClient() as api:
        await (_serve(api) if options.work == "serve" else _follow(api, options))


if __name__ == "__main__":
    asyncio.run(_run(arguments("sync", "events", "serve")))

# SPDX-License-Identifier: Apache-2.0
"""The bench's work as loops over the official client's plain calls, as its examples write them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kubernetes import client, config, watch

from hack.bench.runtime.programs.changes import Changes
from hack.bench.runtime.programs.marks import arguments, mark

if TYPE_CHECKING:
    import argparse

_WIDGETS = ("bench.dglop.dev", "v1", "widgets")


def _follow(options: argparse.Namespace) -> None:
    core: Any = client.CoreV1Api()
    pods: dict[tuple[str, str], Any] = {}
    changes = Changes(options.count)
    is_first = True
    while True:
        page = core.list_pod_for_all_namespaces()
        for pod in page.items:
            changes.see(pods, pod)
        if is_first:
            is_first = False
            changes.begin()
            mark("synced")
            time.sleep(1)
            mark("settled")
        version = page.metadata.resource_version
        try:
            for event in watch.Watch().stream(core.list_pod_for_all_namespaces, resource_version=version):
                if event["type"] == "DELETED":
                    metadata = event["object"].metadata
                    pods.pop((metadata.namespace, metadata.name), None)
                else:
                    changes.see(pods, event["object"])
        except client.ApiException as error:
            if error.status != 410:
                raise


def _serve() -> None:
    widgets: Any = client.CustomObjectsApi()

    def finish(widget: dict[str, Any]) -> None:
        if widget.get("status", {}).get("phase") != "Done":
            where = (widget["metadata"]["namespace"], _WIDGETS[2], widget["metadata"]["name"])
            widgets.patch_namespaced_custom_object_status(
                *_WIDGETS[:2], *where, {"status": {"phase": "Done"}}
            )

    page = widgets.list_cluster_custom_object(*_WIDGETS)
    for widget in page["items"]:
        finish(widget)
    version = page["metadata"]["resourceVersion"]
    for event in watch.Watch().stream(
        widgets.list_cluster_custom_object, *_WIDGETS, resource_version=version
    ):
        if event["type"] != "DELETED":
            finish(event["object"])


def main() -> None:
    options = arguments("sync", "events", "serve")
    mark("begun")
    config.load_kube_config(config_file=options.config)
    if options.work == "serve":
        _serve()
    else:
        _follow(options)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The operator of the quick start: a Website is a page, served by some web servers."""

from typing import Any

from kubernetes.aio.client import V1ConfigMap, V1Deployment, V1Service
from pydantic import Field

from dglop import Context, CustomResource, Manager, Rule, Spec, Status, needs


class WebsiteSpec(Spec):
    page: str = Field(max_length=10_000)
    """The HTML to serve."""
    replicas: int = Field(default=1, ge=1, le=10)
    """How many web servers serve it."""


class WebsiteStatus(Status):
    ready_replicas: int = 0
    """How many web servers answer."""


class Website(
    CustomResource[WebsiteSpec, WebsiteStatus],
    group="example.dev",
    version="v1",
    columns={
        "Ready": ".status.conditions[?(@.type=='Ready')].status",
        "Servers": ".status.readyReplicas",
    },
):
    """A page on the web."""


@needs(
    Rule.of(V1ConfigMap, "create", "patch"),
    Rule.of(V1Deployment, "create", "patch"),
    Rule.of(V1Service, "create", "patch"),
)
async def reconcile(site: Website, ctx: Context) -> None:
    for part in parts_of(site):
        await ctx.apply(part, owner=site)
    servers = ctx.get(V1Deployment, site.name)
    ready = (servers.status.ready_replicas if servers and servers.status else 0) or 0
    site.status.ready_replicas = ready
    if ready < site.spec.replicas:
        waiting = f"{ready} of {site.spec.replicas} web servers are ready"
        site.status.set("Ready", False, reason="Starting", message=waiting)
        return
    if not site.status.is_true("Ready"):
        ctx.event(site, "Online", f"http://{site.name}.{site.namespace} answers")
    site.status.set("Ready", True, reason="Online")


def parts_of(site: Website) -> list[dict[str, Any]]:
    """What a website is made of; a pure function, so that a test can simply call it."""
    labels = {"example.dev/website": site.name}
    about = {"name": site.name, "labels": labels}
    page = {"name": "page", "mountPath": "/usr/share/nginx/html"}
    container = {"name": "web", "image": "nginx:1", "volumeMounts": [page]}
    pod = {"containers": [container], "volumes": [{"name": "page", "configMap": {"name": site.name}}]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    servers = {"replicas": site.spec.replicas, "selector": {"matchLabels": labels}, "template": template}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": {"index.html": site.spec.page}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": servers},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": about,
            "spec": {"selector": labels, "ports": [{"port": 80}]},
        },
    ]


def register(manager: Manager) -> None:
    """Used by the program below and by its tests."""
    manager.controller(Website, reconcile, owns=[V1ConfigMap, V1Deployment, V1Service])


manager = Manager(name="website")
register(manager)

if __name__ == "__main__":
    manager.main()

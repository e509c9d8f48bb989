# SPDX-License-Identifier: Apache-2.0
"""Boils a server's OpenAPI and discovery documents down to what the in-memory one needs of built-in kinds.

`python -m dglop.testing.memory.openapi` writes kubernetes.json anew from an envtest server.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.runtime.client import Client, ClientConfig
from dglop.testing.envtest import Envtest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ("GROUPS", "condense", "render")

GROUPS = (
    "v1",
    "admissionregistration.k8s.io/v1",
    "apiextensions.k8s.io/v1",
    "apps/v1",
    "authentication.k8s.io/v1",
    "authorization.k8s.io/v1",
    "autoscaling/v2",
    "batch/v1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "events.k8s.io/v1",
    "networking.k8s.io/v1",
    "node.k8s.io/v1",
    "policy/v1",
    "rbac.authorization.k8s.io/v1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1",
)
"""The API versions that are taken over."""

_NOISE = frozenset({"description", "title", "x-kubernetes-group-version-kind", "example"})
_KEPT = ("shortNames", "categories")


def condense(
    version: str, schemas: Mapping[str, Any], resources: Mapping[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    """The table of resources and the types they need; *resources* are discovery's, by API version."""
    roots = _roots(schemas)
    listed = [entry for at in GROUPS for entry in _entries(at, resources[at], roots)]
    types: dict[str, Any] = {}
    wanted = ["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", *(entry["type"] for entry in listed)]
    while wanted:
        name = wanted.pop()
        if name and name not in types:
            types[name] = _clean(schemas[name])
            wanted += _references(types[name])
    return {"version": version, "resources": listed, "types": dict(sorted(types.items()))}


def render(table: Mapping[str, Any]) -> str:
    """The table as JSON, a resource or type a line."""
    resources = ",\n".join(_json(each) for each in table["resources"])
    types = ",\n".join(f"{_json(name)}:{_json(node)}" for name, node in table["types"].items())
    head = f'{{"version":{_json(table["version"])}'
    return f'{head},"resources":[\n{resources}\n],"types":{{\n{types}\n}}}}\n'


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _roots(schemas: Mapping[str, Any]) -> dict[tuple[str, str, str], str]:
    roots: dict[tuple[str, str, str], str] = {}
    for name, schema in schemas.items():
        for each in schema.get("x-kubernetes-group-version-kind", ()):
            roots.setdefault((each["group"], each["version"], each["kind"]), name)
    return roots


def _entries(
    at: str, resources: list[dict[str, Any]], roots: Mapping[tuple[str, str, str], str]
) -> Iterator[dict[str, Any]]:
    group, _, version = at.rpartition("/")
    for each in resources:
        name = each["name"]
        if "/" in name:
            continue
        subresources = [
            other["name"].split("/")[1] for other in resources if other["name"].startswith(name + "/")
        ]
        kept = {key: each[key] for key in _KEPT if key in each}
        yield {
            "group": group,
            "version": version,
            "kind": each["kind"],
            "plural": name,
            "singular": each["singularName"],
            "namespaced": each["namespaced"],
            "verbs": each["verbs"],
            "subresources": sorted(set(subresources)),
            "type": roots.get((group, version, each["kind"]), ""),
            **kept,
        }


def _clean(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: _clean(each) for name, each in value.items()}
        elif key in ("items", "additionalProperties"):
            result[key] = _clean(value)
        elif key == "allOf" and len(value) == 1:
            result.update(_clean(value[0]))
        elif key == "$ref":
            result[key] = value.rpartition("/")[2]
        elif key not in _NOISE:
            result[key] = value
    return result


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "properties":  # one of them may be named $ref
                yield from _references(list(value.values()))
            elif key == "$ref":
                yield value
            else:
                yield from _references(value)
    elif isinstance(node, list):
        for each in node:
            yield from _references(each)


async def read(client: Client) -> dict[str, Any]:
    """The table of the server that *client* talks to."""
    schemas: dict[str, Any] = {}
    resources: dict[str, list[dict[str, Any]]] = {}
    for at in GROUPS:
        path = f"/apis/{at}" if "/" in at else f"/api/{at}"
        resources[at] = msgspec.json.decode(await client.raw("GET", path))["resources"]
        document = msgspec.json.decode(await client.raw("GET", f"/openapi/v3{path}"))
        for name, schema in document["components"]["schemas"].items():
            schemas.setdefault(name, schema)
    version = msgspec.json.decode(await client.raw("GET", "/version"))["gitVersion"]
    return condense(version, schemas, resources)


async def _write(path: Path) -> None:
    async with (
        Envtest() as server,
        await Client.connect(ClientConfig(kubeconfig=str(server.kubeconfig))) as client,
    ):
        text = render(await read(client))
    path.write_text(text, encoding="utf-8")  # noqa: ASYNC240 - a program of one task


if __name__ == "__main__":
    asyncio.run(_write(Path(__file__).with_name("kubernetes.json")))

# SPDX-License-Identifier: Apache-2.0
"""From a request's body to an object of the kind that its URL means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from dglop.testing.memory.refusal import Problem, RefusalError, bad_request, internal, invalid
from dglop.testing.memory.schema import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.testing.memory.request import Target
    from dglop.testing.memory.resources import Node, ResourceInfo
    from dglop.testing.memory.schema import Schemas

__all__ = ("Body", "checked", "checked_config", "fitted", "other_name", "read_body", "read_json", "read_yaml")

Body = dict[str, Any]


def read_json(body: bytes) -> Any:
    """Raises RefusalError (400)."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise bad_request(f"the object provided is unrecognized: {problem}") from problem


def read_yaml(body: bytes) -> Body:
    """YAML or JSON, as apply takes it. Raises RefusalError (400)."""
    try:
        found = read_json(body) if body[:1] == b"{" else yaml.safe_load(body)
    except yaml.YAMLError as problem:
        raise bad_request(f"error decoding YAML: {problem}") from problem
    if not isinstance(found, dict):
        raise bad_request("error decoding YAML: the configuration is no object")
    return found


def read_body(target: Target, body: bytes) -> Body:
    """The object in the body, of the URL's kind and namespace. Raises RefusalError."""
    wire = read_json(body)
    if not isinstance(wire, dict):
        raise bad_request("the object provided is unrecognized (must be of type object)")
    return checked(target, wire)


def checked(target: Target, wire: Body) -> Body:
    """*wire*, with apiVersion, kind and namespace as the URL says. Raises RefusalError."""
    info = target.info
    metadata = wire.get("metadata")
    metadata = dict(metadata) if isinstance(metadata, dict) else {}
    kind = wire.get("kind") or info.kind
    version = wire.get("apiVersion") or info.api_version
    if version != info.api_version:
        raise _other_version(info, kind, version)
    if kind != info.kind:
        if info.is_custom:
            problem = Problem.invalid("kind", kind, f"must be {info.kind}")
            raise invalid(info, metadata.get("name", ""), [problem], kind=kind)
        what = f'{kind} in version "{info.version}" cannot be handled as a {info.kind}'
        place = info.group.partition(".")[0] or "core"
        raise bad_request(
            f"{what}: converting ({info.version}.{kind}) to ({place}.{info.kind}): unknown conversion"
        )
    if info.namespaced:
        if metadata.get("namespace") and metadata["namespace"] != target.namespace:
            raise bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata["namespace"] = target.namespace
    else:
        metadata.pop("namespace", None)
    return {**wire, "apiVersion": info.api_version, "kind": info.kind, "metadata": metadata}


def _other_version(info: ResourceInfo, kind: str, version: str) -> RefusalError:
    if info.is_custom:
        return bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({info.api_version})"
        )
    what = f'{kind} in version "{version.rpartition("/")[2]}" cannot be handled as a {info.kind}'
    why = f'no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
    return bad_request(f"{what}: {why}")


def fitted(schemas: Schemas, info: ResourceInfo, wire: Body, validation: str) -> tuple[Body, list[str]]:
    """*wire* as the kind's type keeps it, and warnings of what was dropped. Raises RefusalError (400)."""
    if not info.is_custom:
        wire = schemas.without_nulls(info.node, wire)
        problem = next(_type_problems(schemas, info.node, wire, ""), None)
        if problem is not None:
            raise bad_request(f"{_handled(info)}: json: cannot unmarshal {problem}")
    pruned, gone = schemas.prune(info.node, wire)
    unknown = [f'unknown field "{path}"' for path in gone]
    if unknown and validation == "Strict":
        raise bad_request(f"{_handled(info)}: strict decoding error: {', '.join(unknown)}")
    if info.is_custom:
        pruned = schemas.complete(info.node, pruned)
    return pruned, unknown if validation == "Warn" else []


def _handled(info: ResourceInfo) -> str:
    return f'{info.kind} in version "{info.version}" cannot be handled as a {info.kind}'


_GO = {"array": "[]interface {}", "object": "map[string]interface {}", "integer": "int64", "boolean": "bool"}
_PLAIN = {"string": str, "array": list, "object": dict, "boolean": bool}


def _type_problems(schemas: Schemas, node: Node, value: Any, path: str) -> Iterator[str]:
    wanted = node.get("type")
    fits = True
    if wanted in ("integer", "number"):
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    elif wanted in _PLAIN:
        fits = isinstance(value, _PLAIN[wanted])
    if not fits and value is not None:
        names = {bool: "bool", str: "string", list: "array", dict: "object"}
        found = names.get(type(value), "number")
        yield f"{found} into Go struct field .{path} of type {_GO.get(str(wanted), wanted)}"
        return
    if isinstance(value, dict):
        for name, each in value.items():
            child = schemas.child(node, name)
            if child is not None:
                yield from _type_problems(schemas, child, each, join(path, name))
    elif isinstance(value, list):
        items = schemas.items(node)
        for each in value:
            yield from _type_problems(schemas, items, each, path)


def other_name(target: Target, name: str) -> RefusalError:
    what = f"the name of the object ({name})"
    return bad_request(f"{what} does not match the name on the URL ({target.name})")


def checked_config(target: Target, config: Body) -> Body:
    """A configuration to apply, without nulls and of the URL's name. Raises RefusalError."""
    if (config.get("metadata") or {}).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    wire = checked(target, config)
    metadata = wire["metadata"]
    if metadata.setdefault("name", target.name) != target.name:
        raise other_name(target, metadata["name"])
    if not isinstance(wire.get("metadata"), dict):
        raise internal("failed to create typed patch object: metadata is no object")
    return wire

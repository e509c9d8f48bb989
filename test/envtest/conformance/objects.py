# SPDX-License-Identifier: Apache-2.0
"""The objects that the cases use, and the two CRDs."""

from __future__ import annotations

from typing import Any

from test.envtest.conformance.api import GROUP

V1 = {"type": "string"}


def page(name: str = "page", labels: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name} | ({"labels": labels} if labels else {})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def pod(name: str = "pod", labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name} | ({"labels": labels} if labels else {})
    containers = [{"name": "main", "image": "example.dev/any:1"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **spec},
    }


def service(name: str = "web", **spec: Any) -> dict[str, Any]:
    ports = [{"name": "http", "port": 80}]
    whole = {"selector": {"app": "web"}, "ports": ports, **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": whole}


def widget(name: str = "widget", **spec: Any) -> dict[str, Any]:
    whole = {"text": "a", **spec}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": name}, "spec": whole}


def gauge(name: str = "gauge", **spec: Any) -> dict[str, Any]:
    whole = {"low": 0, "high": 100, **spec}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Gauge", "metadata": {"name": name}, "spec": whole}


def gadget(name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": name}, **fields}


def event(**fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "type": "Normal",
        "reason": "Made",
        "action": "Make",
        "reportingController": "example.dev/c",
        "reportingInstance": "c-1",
        **fields,
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_ITEM = {**_object(name=V1, value={"type": "integer", "default": 7}, note=V1), "required": ["name"]}
_SPEC = {
    **_object(
        text={"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[a-z]+$"},
        size={"type": "integer", "minimum": 1, "maximum": 10},
        ratio={"type": "number", "exclusiveMinimum": True, "minimum": 0},
        mode={"type": "string", "enum": ["fast", "slow"], "default": "fast"},
        flag={"type": "boolean"},
        replicas={"type": "integer", "format": "int32"},
        port={"x-kubernetes-int-or-string": True},
        maybe={"type": "string", "nullable": True},
        raw={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        items={
            "type": "array",
            "items": _ITEM,
            "maxItems": 3,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        tags={"type": "array", "items": V1, "x-kubernetes-list-type": "set"},
        plain={"type": "array", "items": V1, "minItems": 1},
        labels={"type": "object", "additionalProperties": V1},
        counts={"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2},
        whole={**_object(a=V1, b=V1), "x-kubernetes-map-type": "atomic"},
        nested={**_object(must=V1, may={"type": "string", "default": "x"}), "required": ["must"]},
        when={"type": "string", "format": "date-time"},
        step={"type": "integer", "multipleOf": 5},
        letter={"type": "string", "pattern": r"^\p{L}$"},
        digits={"type": "string", "pattern": r"^\d+$"},
        holes={"type": "object", "additionalProperties": {"type": "integer", "nullable": True}},
        row={"type": "array", "items": {"type": "integer", "nullable": True}},
        key={"type": "string", "format": "uuid"},
        block={"type": "string", "format": "cidr"},
        inner={
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    ),
    "required": ["text"],
}
_CONDITION = _object(type=V1, status=V1, reason=V1, message=V1, lastTransitionTime=V1)
_STATUS = _object(
    phase=V1,
    replicas={"type": "integer"},
    observedGeneration={"type": "integer"},
    conditions={
        "type": "array",
        "items": {**_CONDITION, "required": ["type"]},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    },
)


def _crd(kind: str, scope: str, version: dict[str, Any]) -> dict[str, Any]:
    plural = kind.lower() + "s"
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": scope,
            "versions": [{"name": "v1", "served": True, "storage": True, **version}],
        },
    }


WIDGET_CRD = _crd(
    "Widget",
    "Namespaced",
    {
        "schema": {"openAPIV3Schema": {**_object(spec=_SPEC, status=_STATUS), "required": ["spec"]}},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
        "selectableFields": [{"jsonPath": ".spec.mode"}, {"jsonPath": ".spec.size"}],
    },
)
GADGET_CRD = _crd(
    "Gadget",
    "Cluster",
    {"schema": {"openAPIV3Schema": _object(spec=_object(a=V1, b=V1), status=_object(phase=V1))}},
)


def _ruled(node: dict[str, Any], *rules: str, **more: Any) -> dict[str, Any]:
    return {**node, "x-kubernetes-validations": [{"rule": each, **more} for each in rules]}


_INT: dict[str, Any] = {"type": "integer"}
_MARK = {
    **_object(
        name={"type": "string", "maxLength": 9}, at=_ruled(_INT, "self >= oldSelf", message="it only grows")
    ),
    "required": ["name"],
}
_GAUGE_SPEC = _object(
    low=_ruled(_INT, "self < 100"),
    high=_INT,
    step=_INT,
    mode={"type": "string", "enum": ["fast", "slow"]},
    kind=_ruled(
        {"type": "string", "maxLength": 9}, "self in ['even', 'prime']", messageExpression="'no kind ' + self"
    ),
    only=V1,
    other=V1,
    fixed=_ruled({"type": "string", "maxLength": 9}, "self == oldSelf", message="it stays"),
    serial=_ruled(_INT, "self > oldSelf.orValue(0)", message="it grows", optionalOldSelf=True),
    marks={
        "type": "array",
        "items": _ruled(_MARK, "self.at >= 0", reason="FieldValueForbidden", fieldPath=".at"),
        "maxItems": 5,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    },
    named=_ruled(
        {"type": "object", "additionalProperties": _INT, "maxProperties": 4}, "self.all(k, self[k] > 0)"
    ),
    words=_ruled(
        {"type": "array", "maxItems": 4, "items": {"type": "string", "maxLength": 9}},
        "self.filter(w, w.size() > 1).size() < 2",
        "!self.exists(w, w.startsWith('c'))",
    ),
    port=_ruled({"x-kubernetes-int-or-string": True}, "type(self) == string ? self == 'web' : int(self) > 0"),
)
GAUGE_CRD = _crd(
    "Gauge",
    "Namespaced",
    {
        "schema": {
            "openAPIV3Schema": _ruled(
                _object(
                    spec={
                        **_ruled(
                            _GAUGE_SPEC,
                            "self.low <= self.high",
                            "!(has(self.only) && has(self.other))",
                            "!has(self.step) || self.high / self.step > 0",
                        ),
                        "required": ["low", "high"],
                    },
                    status=_ruled(_object(seen=_INT, most=_INT), "self.seen <= self.most"),
                ),
                "self.metadata.name.size() < 20",
            )
        },
        "subresources": {"status": {}},
    },
)


def relic_crd(size: dict[str, Any], kind: str = "Relic") -> dict[str, Any]:
    """A kind of one case's own, which changes its schema or ends it."""
    spec = _object(size=size, more=size)
    return _crd(kind, "Cluster", {"schema": {"openAPIV3Schema": _object(spec=spec)}})


def relic(name: str = "relic", kind: str = "Relic") -> dict[str, Any]:
    spec = {"size": 50, "more": 50}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}

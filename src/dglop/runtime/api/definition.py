# SPDX-License-Identifier: Apache-2.0
"""What a CRD says of a kind beside its schema: names, columns, rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from dglop.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.runtime.api.markers import CEL

__all__ = ("Column", "Conversion", "Definition", "Scale", "Scope")

Scope = Literal["Namespaced", "Cluster"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; a priority above 0 shows it with `-o wide` only."""

    path: str
    type: str = "string"
    description: str = ""
    format: str = ""
    priority: int = 0

    @classmethod
    def of(cls, value: str | Self) -> Column:
        """A column from its JSON path; a path that ends in Timestamp or Time is a date."""
        if isinstance(value, Column):
            return value
        is_date = value.endswith(("Timestamp", "Time"))
        return Column(value, "date" if is_date else "string")

    def to_wire(self, name: str) -> dict[str, Any]:
        wire: dict[str, Any] = {"name": name, "type": self.type, "jsonPath": self.path}
        pairs = (("description", self.description), ("format", self.format), ("priority", self.priority))
        return wire | {key: value for key, value in pairs if value}


@dataclass(frozen=True, slots=True)
class Scale:
    """Where the scale subresource finds its numbers, as JSON paths, for `kubectl scale` and autoscalers."""

    spec_path: str = ".spec.replicas"
    status_path: str = ".status.replicas"
    selector_path: str = ""
    """Where the status says, as text, by which labels the replicas are found; autoscalers need it."""

    def to_wire(self) -> dict[str, Any]:
        wire = {"specReplicasPath": self.spec_path, "statusReplicasPath": self.status_path}
        return wire | ({"labelSelectorPath": self.selector_path} if self.selector_path else {})


@dataclass(frozen=True, slots=True)
class Conversion:
    """The webhook that turns one version of a kind into another; by `url`, or by Service and namespace."""

    service: str = ""
    namespace: str = ""
    path: str = "/convert"
    port: int = 443
    url: str = ""
    ca_bundle: str = ""
    """The CA's certificates, PEM in base64; left out where something such as cert-manager puts them."""
    review_versions: tuple[str, ...] = ("v1",)

    def to_wire(self) -> dict[str, Any]:
        config: dict[str, Any] = {"url": self.url} if self.url else {"service": self._service()}
        if self.ca_bundle:
            config["caBundle"] = self.ca_bundle
        return {
            "strategy": "Webhook",
            "webhook": {"clientConfig": config, "conversionReviewVersions": list(self.review_versions)},
        }

    def _service(self) -> dict[str, Any]:
        if not (self.service and self.namespace):
            raise SchemaError("a Conversion needs a url, or a service and its namespace")
        return {
            "name": self.service,
            "namespace": self.namespace,
            "path": self.path,
            "port": self.port,
        }


@dataclass(frozen=True, slots=True)
class Definition:
    """The class keywords of a kind."""

    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)
    rules: tuple[CEL, ...] = ()
    singular: str = ""
    scale: Scale | None = None
    selectable: tuple[str, ...] = ()
    storage: bool = False
    served: bool = True
    deprecation: str = ""

# SPDX-License-Identifier: Apache-2.0
"""What a webhook configuration says beside where the webhook is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ("HookOptions", "HookRule")


@dataclass(frozen=True, slots=True)
class HookRule:
    """Which requests a webhook is asked about; `*` is all, `pods/*` all subresources of pods."""

    groups: Sequence[str]
    versions: Sequence[str]
    resources: Sequence[str]
    operations: Sequence[str] = ("CREATE", "UPDATE")
    scope: Literal["*", "Namespaced", "Cluster"] = "*"

    def to_wire(self) -> dict[str, Any]:
        return {
            "apiGroups": list(self.groups),
            "apiVersions": list(self.versions),
            "operations": list(self.operations),
            "resources": list(self.resources),
            "scope": self.scope,
        }


@dataclass(frozen=True, slots=True)
class HookOptions:
    """
    How the API server uses a webhook.

    Attributes
    ----------
        name: a domain name of three parts or more; by default made of the operation and the resource.
        path: where it is served; by default controller-runtime's, /validate-example-dev-v1-greeting.
        rules: which requests it is asked about; by default those of its kind that it has a function for.
        failure_policy: whether a request fails when the webhook cannot be reached.
        timeout_seconds: 1 to 30; the functions get somewhat less, so that there is an answer in time.
        match_conditions: CEL expressions by name, all of which must hold.
        reinvocation_policy: for defaulting: whether to ask again when a later webhook changed the object.
    """

    name: str = ""
    path: str = ""
    rules: Sequence[HookRule] = ()
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    match_policy: Literal["Equivalent", "Exact"] = "Equivalent"
    side_effects: Literal["None", "NoneOnDryRun"] = "None"
    timeout_seconds: int = 10
    namespace_selector: Mapping[str, Any] = field(default_factory=dict)
    object_selector: Mapping[str, Any] = field(default_factory=dict)
    match_conditions: Mapping[str, str] = field(default_factory=dict)
    reinvocation_policy: Literal["Never", "IfNeeded"] = "Never"

    def to_wire(self, *, mutating: bool) -> dict[str, Any]:
        """The fields of the configuration that are said here."""
        wire: dict[str, Any] = {
            "admissionReviewVersions": ["v1"],
            "failurePolicy": self.failure_policy,
            "matchPolicy": self.match_policy,
            "sideEffects": self.side_effects,
            "timeoutSeconds": self.timeout_seconds,
        }
        if self.namespace_selector:
            wire["namespaceSelector"] = dict(self.namespace_selector)
        if self.object_selector:
            wire["objectSelector"] = dict(self.object_selector)
        if self.match_conditions:
            pairs = self.match_conditions.items()
            wire["matchConditions"] = [{"name": name, "expression": rule} for name, rule in pairs]
        if mutating:
            wire["reinvocationPolicy"] = self.reinvocation_policy
        return wire

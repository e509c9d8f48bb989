# SPDX-License-Identifier: Apache-2.0
"""The webhooks of one Manager: what was registered, and the manifests that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dglop.errors import ConfigError
from dglop.runtime.api import CustomResource, crd_manifest, resource_of
from dglop.runtime.webhook.admission import default_step, validate_step, validated_operations
from dglop.runtime.webhook.conversion import PATH, Converter
from dglop.runtime.webhook.manifests import configuration, with_conversion
from dglop.runtime.webhook.options import HookOptions, HookRule

if TYPE_CHECKING:
    from dglop.runtime.api import Kind, Resource
    from dglop.runtime.webhook.admission import Step
    from dglop.runtime.webhook.authentication import Authenticator
    from dglop.runtime.webhook.conversion import Spoke
    from dglop.runtime.webhook.manifests import Target

__all__ = ("Hook", "Webhooks")


@dataclass(frozen=True, slots=True)
class Hook:
    """One admission webhook: what it does with a request, and what its configuration says."""

    path: str
    name: str
    mutating: bool
    steps: tuple[Step, ...]
    rules: tuple[HookRule, ...]
    options: HookOptions


class Webhooks:
    """Admission webhooks by path, and conversions by group and kind."""

    def __init__(self) -> None:
        self.hooks: dict[str, Hook] = {}
        self.conversions: dict[tuple[str, str], Converter] = {}
        self.authenticators: dict[str, Authenticator] = {}

    def __repr__(self) -> str:
        return f"Webhooks({', '.join(self.paths)})"

    def __bool__(self) -> bool:
        return bool(self.paths)

    @property
    def paths(self) -> list[str]:
        """Every path that is served."""
        return [*self.hooks, *([PATH] if self.conversions else []), *self.authenticators]

    def register(
        self, kind: Kind, functions: Any, options: HookOptions | None = None, *, mutating: bool
    ) -> Hook | None:
        """
        Have *functions*, one or several, change objects of *kind*, or judge them; None if there are none.

        Raises ConfigError for a path or name that is taken.
        """
        chain = tuple(functions) if isinstance(functions, list | tuple) else (functions,)
        if not chain:
            return None
        wanted = {"CREATE", "UPDATE"}
        if not mutating:
            wanted = {name for validator in chain for name in validated_operations(validator)}
        operations = tuple(name for name in ("CREATE", "UPDATE", "DELETE") if name in wanted)
        make = default_step if mutating else validate_step
        steps = tuple(make(kind, function) for function in chain)
        return self._add(kind, steps, options or HookOptions(), mutating=mutating, operations=operations)

    def conversion(self, hub: Kind, *spokes: Spoke[Any, Any]) -> Converter:
        """Convert between the versions of one kind. Raises ConfigError if it has a conversion already."""
        conversion = Converter(hub, *spokes)
        key = (conversion.resource.group, conversion.resource.kind)
        if key in self.conversions:
            raise ConfigError(
                f"{conversion.resource.group_resource} has a conversion already; name all there"
            )
        self.conversions[key] = conversion
        return conversion

    def authentication(self, function: Authenticator, *, path: str = "/authenticate") -> None:
        """
        Have *function* say whose bearer tokens are, for `--authentication-token-webhook-config-file`.

        Raises ConfigError for a path that is taken.
        """
        if path in self.paths or path == PATH:
            raise ConfigError(f"{path} is served already; choose another path")
        self.authenticators[path] = function

    def manifests(self, target: Target, *, name: str, ca_bundle: bytes = b"") -> list[dict[str, Any]]:
        """The Mutating- and the ValidatingWebhookConfiguration, those that there is something to say in."""
        found = []
        for mutating in (True, False):
            hooks = [hook for hook in self.hooks.values() if hook.mutating is mutating]
            if hooks:
                found.append(configuration(hooks, target, name=name, mutating=mutating, ca_bundle=ca_bundle))
        return found

    def crds(self, target: Target, *, ca_bundle: bytes = b"") -> list[dict[str, Any]]:
        """The CRDs of the kinds with a conversion: all versions, the hub stored, and how to convert."""
        return [
            with_conversion(crd_manifest(*conversion.kinds), target, ca_bundle=ca_bundle)
            for conversion in self.conversions.values()
            if all(_is_class(kind) for kind in conversion.kinds)
        ]

    def _add(
        self,
        kind: Kind,
        steps: tuple[Step, ...],
        options: HookOptions,
        *,
        mutating: bool,
        operations: tuple[str, ...],
    ) -> Hook:
        resource = resource_of(kind)
        word = "mutate" if mutating else "validate"
        rule = HookRule((resource.group,), (resource.version,), (resource.plural,), operations)
        rule = replace(rule, scope="Namespaced" if resource.namespaced else "Cluster")
        hook = Hook(
            path=options.path or _path(word, resource),
            name=options.name or f"{word}-{resource.version}.{resource.plural}.{resource.group or 'core'}",
            mutating=mutating,
            steps=steps,
            rules=tuple(options.rules) or (rule,),
            options=options,
        )
        if hook.path in self.paths or hook.path == PATH:
            raise ConfigError(
                f"{hook.path} is served already; give all functions in one call, or another path and name"
            )
        if hook.name in {each.name for each in self.hooks.values()}:
            raise ConfigError(f"a webhook is named {hook.name} already; give one of them another name")
        self.hooks[hook.path] = hook
        return hook


def _path(word: str, resource: Resource) -> str:
    group = resource.group.replace(".", "-")
    return f"/{word}-{group}-{resource.version}-{resource.kind.lower()}"


def _is_class(kind: Kind) -> bool:
    return isinstance(kind, type) and issubclass(kind, CustomResource)

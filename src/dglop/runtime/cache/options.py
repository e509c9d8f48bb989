# SPDX-License-Identifier: Apache-2.0
"""What a cache keeps: which objects of which kind, in which namespaces, and how much of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dglop.errors import ConfigError
from dglop.runtime.api.resource import Kind, Resource, resource_of
from dglop.runtime.cache.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.cache.transform import Transform

__all__ = ("ALL_NAMESPACES", "CacheOptions", "KindOptions", "Selection", "scopes_of")

ALL_NAMESPACES = ""
"""Among the namespaces of a cache: all those that are not named beside it."""


@dataclass(frozen=True, slots=True)
class Selection:
    """
    What is kept of a kind; what is None is as it is said further out, and in the end everything.

    Attributes
    ----------
        labels, fields: selectors, as kubectl takes them; "" selects everything.
        transform: makes the objects that are kept of those that come, such as `without("data")`.
    """

    labels: str | None = None
    fields: str | None = None
    transform: Transform | None = None


Places = Mapping[str, Selection] | Sequence[str]


@dataclass(frozen=True, slots=True)
class KindOptions(Selection):
    """
    How one kind is kept.

    Attributes
    ----------
        namespaces: the only ones, perhaps each with a Selection of its own; empty is all; None as the cache.
        metadata_only: ask the server for metadata alone: less to send, to parse and to hold.
        resync_seconds: how often handlers hear of all objects again; 0 is never.
    """

    namespaces: Places | None = None
    metadata_only: bool = False
    resync_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CacheOptions(Selection):
    """
    How a cache keeps all kinds, and some of them in another way.

    What is said of a kind in one namespace goes before what is said of the kind, that before what is said of
    the namespace, and that before what is said of all.

    Attributes
    ----------
        namespaces: the only ones for kinds that are in namespaces; empty is all.
        kinds: what holds for some kinds instead.
        disable_for: kinds that a Reader always reads from the API server.
        fail_on_missing: a Reader raises for a kind that is not cached, instead of beginning to cache it.
    """

    namespaces: Places = ()
    kinds: Mapping[Kind, KindOptions] = field(default_factory=dict)
    disable_for: Sequence[Kind] = ()
    fail_on_missing: bool = False

    def of(self, resource: Resource) -> KindOptions:
        """What is said of one kind."""
        return next((each for kind, each in self.kinds.items() if resource_of(kind) == resource), _PLAIN)

    def places_of(self, kind: Kind) -> tuple[str, ...]:
        """The only namespaces in which a kind is looked at; empty is everywhere."""
        resource = resource_of(kind)
        own = self.of(resource).namespaces
        places = set(self.namespaces if own is None else own) if resource.namespaced else set()
        return () if ALL_NAMESPACES in places else tuple(sorted(places))

    def only_in(self, namespaces: Sequence[str]) -> CacheOptions:
        """These options for some namespaces alone; what is said of one of them, or of the rest, holds on."""
        known = _places(self.namespaces)
        rest = known.get(ALL_NAMESPACES, Selection())
        return replace(self, namespaces={name: known.get(name, rest) for name in namespaces})

    def limited(self, kind: Kind, *, labels: str = "", metadata_only: bool = False) -> CacheOptions:
        """These options with a kind limited further. Raises ConfigError for a second, other selector."""
        resource, known = resource_of(kind), self.of(resource_of(kind))
        if labels and known.labels not in (None, labels):
            raise ConfigError(
                f"{resource.group_resource} is selected by {known.labels!r} already, not {labels!r}"
            )
        if metadata_only and known.transform is not None:
            raise ConfigError(f"{resource.group_resource} cannot be transformed where only metadata is kept")
        limited = replace(
            known,
            labels=labels or known.labels,
            metadata_only=metadata_only or known.metadata_only,
        )
        others = {each: held for each, held in self.kinds.items() if resource_of(each) != resource}
        return replace(self, kinds={**others, resource: limited})


_PLAIN = KindOptions()


def scopes_of(
    resource: Resource,
    options: CacheOptions,
    *,
    labels: str | None = None,
    fields: str | None = None,
    metadata_only: bool | None = None,
) -> tuple[Scope, ...]:
    """
    What is to be listed and watched for a kind, where an argument goes before what *options* say.

    Raises ConfigError for namespaces of a kind that is in none.
    """
    kind, given = options.of(resource), Selection(labels, fields)
    partial = kind.metadata_only if metadata_only is None else metadata_only
    if not resource.namespaced:
        if kind.namespaces:
            raise ConfigError(f"{resource.group_resource} is in no namespace; leave out its namespaces")
        return (_scope(resource, None, (given, kind, options), metadata_only=partial),)
    common = _places(options.namespaces)
    places = common if kind.namespaces is None else _places(kind.namespaces)
    named = tuple(sorted(set(places) - {ALL_NAMESPACES}))
    found = []
    for namespace, own in (places or {ALL_NAMESPACES: Selection()}).items():
        inner = own if kind.namespaces is not None else Selection()
        outer = common.get(namespace, Selection())
        scope = _scope(
            resource, namespace or None, (given, inner, kind, outer, options), metadata_only=partial
        )
        found.append(replace(scope, except_namespaces=() if namespace else named))
    return tuple(found)


def _places(places: Places) -> Mapping[str, Selection]:
    return places if isinstance(places, Mapping) else dict.fromkeys(places, Selection())


def _scope(
    resource: Resource, namespace: str | None, said: Iterable[Selection], *, metadata_only: bool
) -> Scope:
    """The first that is said of each."""
    said = tuple(said)
    return Scope(
        resource,
        namespace,
        labels=next((each.labels for each in said if each.labels is not None), ""),
        fields=next((each.fields for each in said if each.fields is not None), ""),
        metadata_only=metadata_only,
        transform=next((each.transform for each in said if each.transform is not None), None),
    )

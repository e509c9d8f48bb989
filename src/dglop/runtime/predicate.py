# SPDX-License-Identifier: Apache-2.0
"""Which changes are worth a reconciliation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.runtime.cache import Cached

__all__ = (
    "Created",
    "Deleted",
    "Event",
    "Predicate",
    "Updated",
    "all_of",
    "annotations_changed",
    "any_of",
    "generation_changed",
    "has_labels",
    "labels_changed",
    "negate",
    "resource_version_changed",
)


@dataclass(frozen=True, slots=True)
class Created:
    """An object is new to the cache; `is_initial` if it came with the first list."""

    obj: Cached
    is_initial: bool = False


@dataclass(frozen=True, slots=True)
class Updated:
    """An object changed, or was delivered again unchanged."""

    old: Cached
    new: Cached

    @property
    def is_resync(self) -> bool:
        return self.old.meta.resource_version == self.new.meta.resource_version


@dataclass(frozen=True, slots=True)
class Deleted:
    """An object is gone; its last state is a guess if `final_state_unknown`."""

    obj: Cached
    final_state_unknown: bool = False


Event: TypeAlias = Created | Updated | Deleted
"""A change in the cache."""
Predicate: TypeAlias = Callable[[Event], bool]
"""Whether an event is worth a reconciliation."""


def resource_version_changed(event: Event) -> bool:
    """Lets updates through that changed anything; creations and deletions pass."""
    return not isinstance(event, Updated) or not event.is_resync


def generation_changed(event: Event) -> bool:
    """Lets updates through that changed the spec, or asked for the deletion; creations and deletions pass."""
    if not isinstance(event, Updated):
        return True
    old, new = event.old.meta, event.new.meta
    return old.generation != new.generation or old.deletion_timestamp != new.deletion_timestamp


def labels_changed(event: Event) -> bool:
    """Lets updates through that changed the labels; creations and deletions pass."""
    return not isinstance(event, Updated) or event.old.meta.labels != event.new.meta.labels


def annotations_changed(event: Event) -> bool:
    """Lets updates through that changed the annotations; creations and deletions pass."""
    return not isinstance(event, Updated) or event.old.meta.annotations != event.new.meta.annotations


def has_labels(labels: Mapping[str, str | None]) -> Predicate:
    """Lets events of objects through that have these labels; a value of None asks only for the key."""

    def matches(event: Event) -> bool:
        held = (event.new if isinstance(event, Updated) else event.obj).meta.labels or {}
        return all(key in held and value in (None, held[key]) for key, value in labels.items())

    return matches


def all_of(*predicates: Predicate) -> Predicate:
    """Lets events through that all of *predicates* let through."""
    return lambda event: all(predicate(event) for predicate in predicates)


def any_of(*predicates: Predicate) -> Predicate:
    """Lets events through that one of *predicates* lets through."""
    return lambda event: any(predicate(event) for predicate in predicates)


def negate(predicate: Predicate) -> Predicate:
    """Lets events through that *predicate* keeps away."""
    return lambda event: not predicate(event)

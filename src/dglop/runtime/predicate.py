# SPDX-License-Identifier: Apache-2.0
"""Which changes are worth a reconciliation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dglop.runtime.api.selector import label_test

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
    "matches_labels",
    "negate",
    "on_events",
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


def matches_labels(selector: str | Mapping[str, Any]) -> Predicate:
    """
    Lets events of objects through that a label selector means: text, labels, or a LabelSelector's dict.

    Unlike the selector of a Watch it keeps nothing out of the cache. Raises ValueError for text that is none.
    """
    test = label_test(selector)
    return lambda event: test((event.new if isinstance(event, Updated) else event.obj).meta.labels)


def on_events(
    *,
    created: Callable[[Created], bool] | bool = True,
    updated: Callable[[Updated], bool] | bool = True,
    deleted: Callable[[Deleted], bool] | bool = True,
) -> Predicate:
    """Lets events through by their sort: all, none, or those that a function of that sort approves of."""

    def approves(event: Event) -> bool:
        if isinstance(event, Created):
            return created if isinstance(created, bool) else created(event)
        if isinstance(event, Updated):
            return updated if isinstance(updated, bool) else updated(event)
        return deleted if isinstance(deleted, bool) else deleted(event)

    return approves


def all_of(*predicates: Predicate) -> Predicate:
    """Lets events through that all of *predicates* let through."""
    return lambda event: all(predicate(event) for predicate in predicates)


def any_of(*predicates: Predicate) -> Predicate:
    """Lets events through that one of *predicates* lets through."""
    return lambda event: any(predicate(event) for predicate in predicates)


def negate(predicate: Predicate) -> Predicate:
    """Lets events through that *predicate* keeps away."""
    return lambda event: not predicate(event)

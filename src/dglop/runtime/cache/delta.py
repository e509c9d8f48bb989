# SPDX-License-Identifier: Apache-2.0
"""What changed in a store, and who is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from dglop.runtime.usercode import contained

if TYPE_CHECKING:
    from dglop.runtime.cache.entry import Cached

__all__ = ("Delta", "EventHandlerProtocol", "tell")


@dataclass(frozen=True, slots=True)
class Delta:
    """One change: only `new` is an addition, only `old` a deletion, both an update.

    `is_initial` marks additions of the first list; `final_state_unknown` marks a deletion that was
    not seen, so that `old` may not be the object's last state.
    """

    old: Cached | None
    new: Cached | None
    is_initial: bool = False
    final_state_unknown: bool = False


class EventHandlerProtocol(Protocol):
    """Hears of changes, in order, one call each. Plain functions, which must not block."""

    def on_add(self, obj: Cached, is_initial: bool) -> None: ...

    def on_update(self, old: Cached, new: Cached) -> None: ...

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None: ...


def tell(handler: EventHandlerProtocol, delta: Delta) -> None:
    """Have *handler* hear of *delta*. Raises what it raises, or a UserCodeError."""
    old, new = delta.old, delta.new
    with contained(handler):
        if old is None and new is not None:
            handler.on_add(new, delta.is_initial)
        elif new is None and old is not None:
            handler.on_delete(old, delta.final_state_unknown)
        elif old is not None and new is not None:
            handler.on_update(old, new)

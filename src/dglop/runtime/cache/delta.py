# SPDX-License-Identifier: Apache-2.0
"""What changed in a store, and who is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dglop.runtime.cache.entry import Cached

__all__ = ("Delta", "EventHandlerProtocol")


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

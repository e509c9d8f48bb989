# SPDX-License-Identifier: Apache-2.0
"""What was heard and reconciled of one kind, and what in it does not follow from what came before."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dglop.runtime.cache import Cached

__all__ = ("Ledger",)

_TRAIL = 12

State = tuple[str, int]
"""uid and resource version."""


@dataclass(slots=True)
class Ledger:
    """
    An informer's handler, and a reconciler's book.

    It holds one entry a name, so its size does not depend on how long the soak lasts. `faults` are sentences
    that name the object and its last events.
    """

    kind: str
    now: Callable[[], float]
    events: int = 0
    reconciles: int = 0
    faults: list[str] = field(default_factory=list)
    heard: dict[str, State] = field(default_factory=dict)
    done: dict[str, State] = field(default_factory=dict)
    """The last state of each object that a reconciliation ended with."""
    _busy: set[str] = field(default_factory=set)
    _trails: dict[str, deque[str]] = field(default_factory=dict)

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        state = self._hear("initial" if is_initial else "added", obj)
        if obj.name in self.heard:
            self._fault(obj.name, f"was added as {state} while it was there as {self.heard[obj.name]}")
        self.heard[obj.name] = state

    def on_update(self, old: Cached, new: Cached) -> None:
        before, state = (old.uid, int(old.resource_version)), self._hear("updated", new)
        known = self.heard.get(new.name)
        if known != before:
            self._fault(new.name, f"was updated from {before}, but was last heard of as {known}")
        elif state[0] != before[0]:
            self._fault(new.name, f"became another object, {state}, by an update of {before}")
        elif state[1] < before[1]:
            self._fault(new.name, f"went back from {before} to {state}")
        self.heard[new.name] = state

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        state = self._hear("missed deletion" if final_state_unknown else "deleted", obj)
        known = self.heard.pop(obj.name, None)
        if known is None or known[0] != state[0]:
            self._fault(obj.name, f"was deleted as {state}, but was last heard of as {known}")

    @contextmanager
    def reconciling(self, name: str, state: State | None) -> Iterator[None]:
        """One reconciliation; *state* is None for an object that is gone."""
        if name in self._busy:
            self._fault(name, "is in the hands of two workers at once")
        self._busy.add(name)
        self._note(name, f"reconciling {state}")
        try:
            yield
        finally:
            self._busy.discard(name)
        self.reconciles += 1
        self._note(name, f"reconciled {state}")
        if state is None:
            self.done.pop(name, None)
        else:
            self.done[name] = state

    def trail(self, name: str) -> str:
        """The last that was heard of an object and done with it."""
        return "; ".join(self._trails.get(name, ())) or "nothing was ever heard of it"

    def _hear(self, what: str, obj: Cached) -> State:
        self.events += 1
        state = (obj.uid, int(obj.resource_version))
        self._note(obj.name, f"{what} {state}")
        return state

    def _note(self, name: str, what: str) -> None:
        self._trails.setdefault(name, deque(maxlen=_TRAIL)).append(f"{self.now():.1f} s {what}")

    def _fault(self, name: str, what: str) -> None:
        self.faults.append(f"{self.kind} {name} {what}. Its last events: {self.trail(name)}")

# SPDX-License-Identifier: Apache-2.0
"""What must hold once nothing changes any more: pure comparisons, each difference a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hack.soak.program import CHILD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hack.soak.ledger import Ledger

__all__ = ("differences", "orphans")

State = tuple[str, int]
Wire = dict[str, Any]


def differences(
    kind: str, listed: Mapping[str, Wire], cached: Mapping[str, State], ledger: Ledger
) -> list[str]:
    """Where cache, handlers or reconciliations are not at what the API server has."""
    truth = {name: _state(wire) for name, wire in listed.items()}
    views = {"the cache has": cached, "the handler heard of": ledger.heard, "reconciled was": ledger.done}
    return [
        f"{kind} {name}: the API server has {_said(truth.get(name))}, {view} {_said(seen.get(name))}. "
        f"Its last events: {ledger.trail(name)}"
        for view, seen in views.items()
        for name in sorted({*truth, *seen})
        if truth.get(name) != seen.get(name)
    ]


def orphans(samples: Mapping[str, Wire], pages: Mapping[str, Wire]) -> list[str]:
    """Where a Sample's status or ConfigMap does not say what its spec does, or a ConfigMap is left over."""
    wanted = {f"{CHILD}{name}": str(wire["spec"].get("value", 0)) for name, wire in samples.items()}
    found = {name: str(wire.get("data", {}).get("value")) for name, wire in _children(pages.items())}
    wrong = [
        f"ConfigMap {name}: its value is {_said(found.get(name))} and should be {_said(wanted.get(name))}"
        for name in sorted({*wanted, *found})
        if wanted.get(name) != found.get(name)
    ]
    stale = [
        f"Sample {name}: its status says {wire.get('status', {}).get('seen')} and its spec "
        f"{wire['spec'].get('value', 0)}"
        for name, wire in samples.items()
        if wire.get("status", {}).get("seen") != wire["spec"].get("value", 0)
    ]
    return wrong + stale


def _children(pages: Iterable[tuple[str, Wire]]) -> list[tuple[str, Wire]]:
    return [(name, wire) for name, wire in pages if name.startswith(CHILD)]


def _state(wire: Wire) -> State:
    return wire["metadata"]["uid"], int(wire["metadata"]["resourceVersion"])


def _said(value: object) -> object:
    return "nothing" if value is None else value

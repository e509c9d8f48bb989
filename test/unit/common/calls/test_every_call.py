# SPDX-License-Identifier: Apache-2.0
"""Whatever happens at whichever call of the operator, a job comes to the same end and leaves nothing.

Which calls there are is taken from a life in which nothing happens. Each call of the short lives meets all
effects; of the others each call usually meets one, and each effect an eighth of the calls. `make calls`
tries all effects at all calls of all lives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from dglop.testing.memory import Effect, Fault, MemoryCluster
from test.properties import SECONDS
from test.unit.common.calls.extent import IS_WHOLE
from test.unit.common.calls.more import ALL_LIVES, SHORT_LIVES
from test.unit.common.calls.operator import AGENT
from test.wire import Wire

if TYPE_CHECKING:
    from dglop.testing.memory import Request
    from test.unit.common.calls.life import Outcome

BEFORE, AFTER = "killed before it", "killed after it"
EFFECTS: dict[str, int | Effect | None] = {
    BEFORE: None,
    AFTER: None,
    "conflict": 409,
    "too many requests": 429,
    "internal error": 500,
    "no answer": Effect.HANG,
    "done, answer lost": Effect.LOSE,
    "reset": Effect.RESET,
}


@dataclass(slots=True)
class AtCall(Fault):
    """Strikes one of the operator's calls; the lists and watches of its cache are none."""

    def matches(self, request: Request) -> bool:
        is_cache = request.is_watch or "limit" in request.query or request.path == "/version"
        return request.headers.get("user-agent") == AGENT and not is_cache


async def life(kind: str, wire: Wire, fault: Fault | None = None) -> Outcome:
    async with MemoryCluster() as cluster:
        if fault is not None:
            cluster.server.faults.order(fault)
        return await ALL_LIVES[kind](cluster).live(wire)


async def disturbed(kind: str, effect: str, number: int) -> Outcome:
    """A life in which this happens at the call of this number."""
    if effect in (BEFORE, AFTER):
        wire = Wire(number, answer_lost=effect == AFTER)
        found = await life(kind, wire)
        assert wire.is_cut
        return found
    what = EFFECTS[effect]
    status = what if isinstance(what, int) else 500
    kind_of = what if isinstance(what, Effect) else Effect.ANSWER
    fault = AtCall(kind_of, skip=number, status=status)
    found = await life(kind, Wire(), fault)
    assert fault.hits == 1
    return found


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("kind", ALL_LIVES)
@pytest.mark.parametrize("effect", EFFECTS)
async def test_whatever_happens_at_whichever_call_a_job_comes_to_the_same_end(kind: str, effect: str) -> None:
    wire = Wire()
    expected = await life(kind, wire)
    assert expected.end["conditions"][ALL_LIVES[kind].ending][0] == "True"
    assert expected.left == []
    assert len(expected.made) == len(set(expected.made))
    assert len(wire.sent) > 12
    turn = list(EFFECTS).index(effect)
    for number, call in enumerate(wire.sent):
        if IS_WHOLE or kind in SHORT_LIVES or number % len(EFFECTS) == turn:
            assert await disturbed(kind, effect, number) == expected, f"{effect}: call {number}, {call}"

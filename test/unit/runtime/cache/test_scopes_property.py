# SPDX-License-Identifier: Apache-2.0
"""One informer of several scopes: each scope's state is its own, whatever the others are told."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from dglop.runtime.cache import ALL_NAMESPACES, CacheOptions, Informer
from dglop.runtime.cache.entry import Cached, read_object
from dglop.runtime.cache.options import scopes_of
from dglop.runtime.log import make_log
from dglop.testing.clock import ManualClock
from test.unit.runtime.cache.informers import POD

if TYPE_CHECKING:
    from dglop.runtime.cache.sink import Sink

NAMESPACES = ("a", "b", "c", "d")
PLACES = st.sampled_from(["a", "b", "rest"])
OBJECTS = st.lists(st.tuples(st.sampled_from(NAMESPACES), st.sampled_from("xyz")), unique=True)
STEPS = st.lists(
    st.tuples(PLACES, st.sampled_from(["replace", "put", "delete"]), OBJECTS), min_size=1, max_size=25
)


class Follower:
    """Keeps what it hears of, and finds out what cannot be."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], str] = {}

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        assert obj.key not in self.held
        self.held[obj.key] = obj.resource_version

    def on_update(self, old: Cached, new: Cached) -> None:
        assert self.held[old.key] == old.resource_version
        self.held[new.key] = new.resource_version

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        del self.held[obj.key]


class _Idle:
    async def run(self) -> None:
        return


def _pod(namespace: str, name: str, version: int) -> Cached:
    metadata = {
        "namespace": namespace,
        "name": name,
        "uid": f"{namespace}{name}",
        "resourceVersion": str(version),
    }
    return read_object(json.dumps({"metadata": metadata}).encode(), POD)[0]


def _place(namespace: str) -> str:
    return namespace if namespace in ("a", "b") else "rest"


async def _tell(sink: Sink, what: str, objects: list[Cached], version: int) -> None:
    if what == "replace":
        await sink.replace(objects, str(version))
    else:
        await sink.events([("ADDED" if what == "put" else "DELETED", each) for each in objects])


async def _run(steps: list[tuple[str, str, list[tuple[str, str]]]]) -> None:
    sinks: dict[str, Sink] = {}

    def make_runner(scope: Any, sink: Any) -> Any:
        sinks[scope.namespace or "rest"] = sink
        return _Idle()

    options = CacheOptions(namespaces=("a", "b", ALL_NAMESPACES))
    informer = Informer(
        scopes_of(POD, options), make_runner, clock=ManualClock(), log=make_log(level="error")
    )
    follower = Follower()
    informer.add_handler(follower)
    model: dict[str, dict[tuple[str, str], str]] = {"a": {}, "b": {}, "rest": {}}
    for number, (place, what, keys) in enumerate(steps, start=1):
        own = [key for key in keys if _place(key[0]) == place]
        objects = [_pod(*key, number) for key in own]
        await _tell(sinks[place], what, objects, number)
        known = {} if what == "replace" else dict(model[place])
        for key in own:
            known.pop(key, None)
            if what != "delete":
                known[key] = str(number)
        model[place] = known
        expected = {key: version for part in model.values() for key, version in part.items()}
        assert {each.key: each.resource_version for each in informer.store} == expected
        assert follower.held == expected
        for namespace in NAMESPACES:
            held = {each.key for each in informer.store.by_index("namespace", namespace)}
            assert held == {key for key in expected if key[0] == namespace}
            if what == "replace" and _place(namespace) == place:
                assert informer.has_shown(str(number), namespace)


@given(STEPS)
def test_store_handlers_and_index_equal_the_union_of_the_scopes(
    steps: list[tuple[str, str, list[tuple[str, str]]]],
) -> None:
    asyncio.run(_run(steps))

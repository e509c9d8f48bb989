# SPDX-License-Identifier: Apache-2.0
"""The store says what changed, and its indexes are always right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.runtime.api import Resource
from dglop.runtime.cache import CONTROLLER_INDEX, NAMESPACE_INDEX, Cached, Delta, Meta, Owner, Store

if TYPE_CHECKING:
    from collections.abc import Iterable

POD = Resource("", "v1", "Pod", "pods")


def pod(name: str, rv: int = 1, uid: str = "", namespace: str = "n", owner: str = "") -> Cached:
    owners = (Owner(uid=owner, controller=True),) if owner else ()
    meta = Meta(
        name=name,
        namespace=namespace,
        uid=uid or f"uid-{name}",
        resource_version=str(rv),
        owner_references=owners,
    )
    return Cached(b"{}", meta, POD)


def told(deltas: Iterable[Delta]) -> list[str]:
    return [
        f"{'+' if each.new else ''}{'-' if each.old else ''}"
        f"{(each.new or each.old).name}{'!' if each.is_initial else ''}"
        f"{'?' if each.final_state_unknown else ''}"
        for each in deltas
    ]


def test_puts_and_removes_are_told_as_what_they_are() -> None:
    store = Store()
    assert told(store.put(pod("a"))) == ["+a"]
    assert told(store.put(pod("a", 2))) == ["+-a"]
    last = pod("a", 3)
    (delta,) = store.remove(last)
    assert delta == Delta(last, None)
    assert store.remove(last) == []
    assert len(store) == 0


def test_the_same_version_again_is_no_change() -> None:
    store = Store()
    store.put(pod("a"))
    assert store.put(pod("a")) == []
    assert store.replace([pod("a")]) == []


def test_another_uid_under_the_same_name_is_a_deletion_and_an_addition() -> None:
    store = Store()
    store.put(pod("a", uid="one", owner="x"))
    assert told(store.put(pod("a", uid="two"))) == ["-a?", "+a"]
    assert told(store.replace([pod("a", uid="three")])) == ["-a?", "+a"]
    assert store.by_index(CONTROLLER_INDEX, "x") == []
    assert told(store.remove(pod("a", uid="four"))) == ["-a?"]


def test_what_a_new_state_lacks_was_deleted_unseen() -> None:
    store = Store()
    assert told(store.replace([pod("a"), pod("b")], is_initial=True)) == ["+a!", "+b!"]
    assert told(store.replace([pod("b", 2), pod("c")])) == ["-a?", "+-b", "+c"]


def test_replacing_one_namespace_leaves_the_others() -> None:
    store = Store()
    store.replace([pod("a", namespace="x")], covers="x".__eq__)
    store.replace([pod("b", namespace="y")], covers="y".__eq__)
    assert told(store.replace([], covers="x".__eq__)) == ["-a?"]
    assert [each.name for each in store] == ["b"]


def test_an_index_added_late_covers_what_is_there() -> None:
    store = Store()
    store.put(pod("a"))
    store.add_index("first", lambda obj: [obj.name[0]])
    store.put(pod("ab"))
    assert [each.name for each in store.by_index("first", "a")] == ["a", "ab"]
    with pytest.raises(ValueError, match="with another function"):
        store.add_index("first", lambda _: [])
    with pytest.raises(KeyError, match="no index 'second'; there are: controller, first, namespace"):
        store.by_index("second", "a")


OBJECTS = st.builds(
    pod,
    name=st.sampled_from("abc"),
    rv=st.integers(1, 5),
    uid=st.sampled_from(["u1", "u2"]),
    namespace=st.sampled_from(["n", "m"]),
    owner=st.sampled_from(["", "o1", "o2"]),
)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("put"), OBJECTS),
            st.tuples(st.just("remove"), OBJECTS),
            st.tuples(st.just("replace"), st.lists(OBJECTS, max_size=4, unique_by=lambda each: each.key)),
        ),
        max_size=20,
    )
)
def test_indexes_and_deltas_agree_with_the_items_after_any_changes(changes: list[tuple[str, object]]) -> None:
    store = Store()
    followed: dict[tuple[str, str], str] = {}
    for how, what in changes:
        for delta in getattr(store, how)(what):
            if delta.old is not None:
                assert followed.pop(delta.old.key) == delta.old.uid
            if delta.new is not None:
                assert delta.new.key not in followed
                followed[delta.new.key] = delta.new.uid
        assert followed == {each.key: each.uid for each in store}
        for name, value_of in (
            (NAMESPACE_INDEX, lambda each: each.namespace),
            (CONTROLLER_INDEX, Cached.controller_uid),
        ):
            for value in ("n", "m", "o1", "o2"):
                expected = {each.key for each in store if value_of(each) == value}
                assert {each.key for each in store.by_index(name, value)} == expected


def test_a_few_changes_come_at_once_and_many_in_parts() -> None:
    store = Store()
    first = store.replacing({("n", str(n)): pod(str(n)) for n in range(2500)})
    assert [len(part) for part in first] == [1000, 1000, 500]
    fresh = {("n", str(n)): pod(str(n), 1 if n % 5 else 2) for n in range(2500) if n != 1}
    parts = [told(part) for part in store.replacing(fresh)]
    assert [len(part) for part in parts] == [501]
    assert parts[-1][:2] == ["-1?", "+-0"]
    assert fresh == {}
    assert len(store) == 2499


def test_between_looking_and_changing_nothing_is_changed() -> None:
    store = Store()
    store.replace([pod(str(n)) for n in range(5000)])
    parts = store.replacing({("n", "0"): pod("0", 2)})
    assert next(parts) == []
    assert len(store) == 5000
    assert store.get(("n", "0")).resource_version == "1"
    assert sum(len(part) for part in parts) == 5000
    assert [obj.name for obj in store] == ["0"]

# SPDX-License-Identifier: Apache-2.0
"""Owner references on typed objects, official models and wire dicts alike."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta, V1OwnerReference

from dglop.errors import AlreadyOwnedError, SchemaError
from dglop.runtime.api import (
    CustomResource,
    Spec,
    Status,
    controller_of,
    has_controller,
    has_owner,
    is_controlled_by,
    owner_references,
    remove_controller_reference,
    remove_owner_reference,
    set_controller_reference,
    set_owner_reference,
)


class Toy(CustomResource[Spec, Status], group="example.dev", version="v1"):
    """A toy."""


class Room(CustomResource[Spec, Status], group="example.dev", version="v1", scope="Cluster"):
    """A room."""


def toy(name: str = "a", *, uid: str = "u1", namespace: str | None = "n") -> Toy:
    made = Toy(name=name, namespace=namespace, spec=Spec())
    made.metadata.uid = uid
    return made


def _wire() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}}


def _model() -> V1ConfigMap:
    return V1ConfigMap(metadata=V1ObjectMeta(name="c", namespace="n", labels={"a": "b"}))


@pytest.fixture(params=["wire", "model", "typed"])
def child(request: pytest.FixtureRequest) -> Any:
    makers = {"wire": _wire, "model": _model, "typed": lambda: Toy(name="c", namespace="n", spec=Spec())}
    return makers[request.param]()


def test_a_controller_reference_is_set_read_and_taken_away(child: Any) -> None:
    owner = toy()
    set_controller_reference(owner, child)
    (reference,) = owner_references(child)
    assert reference == {
        "apiVersion": "example.dev/v1",
        "kind": "Toy",
        "name": "a",
        "uid": "u1",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    assert controller_of(child) == reference
    assert has_controller(child)
    assert has_owner(child, owner)
    assert is_controlled_by(child, owner)
    assert not is_controlled_by(child, toy(uid="later life"))
    assert not has_owner(child, toy("b"))
    assert remove_controller_reference(owner, child)
    assert not remove_owner_reference(owner, child)
    assert owner_references(child) == []


def test_a_second_controller_is_refused_and_a_plain_owner_is_not(child: Any) -> None:
    set_controller_reference(toy(), child)
    with pytest.raises(AlreadyOwnedError, match="c is controlled by Toy a already, so Toy b cannot"):
        set_controller_reference(toy("b", uid="u2"), child)
    set_owner_reference(toy("b", uid="u2"), child)
    assert [each.get("controller") for each in owner_references(child)] == [True, None]
    assert not remove_controller_reference(toy("b", uid="u2"), child)


def test_a_later_life_of_the_owner_takes_the_place_of_the_earlier(child: Any) -> None:
    set_controller_reference(toy(uid="first"), child)
    set_controller_reference(toy(uid="second"), child, block_deletion=False)
    (reference,) = owner_references(child)
    assert (reference["uid"], reference["blockOwnerDeletion"]) == ("second", False)


def test_other_metadata_stays(child: Any) -> None:
    set_controller_reference(toy(), child)
    metadata = child["metadata"] if isinstance(child, dict) else child.metadata
    assert (metadata["name"] if isinstance(child, dict) else metadata.name) == "c"
    if isinstance(child, V1ConfigMap):
        assert metadata.labels == {"a": "b"}
        assert isinstance(metadata.owner_references[0], V1OwnerReference)


def test_an_owner_in_another_namespace_is_refused(child: Any) -> None:
    with pytest.raises(SchemaError, match="is in namespace 'n', so Toy a in 'elsewhere' cannot own it"):
        set_owner_reference(toy(namespace="elsewhere"), child)


def test_a_cluster_scoped_object_has_no_owner_in_a_namespace_but_one_beside_it() -> None:
    room, hall = Room(name="r", spec=Spec()), Room(name="hall", spec=Spec())
    hall.metadata.uid = "h"
    with pytest.raises(SchemaError, match="Room r is cluster-scoped, so Toy a in a namespace cannot own it"):
        set_controller_reference(toy(), room)
    set_controller_reference(hall, room)
    child = _wire()
    set_controller_reference(hall, child)
    assert has_owner(child, hall)


def test_an_owner_that_was_never_created_owns_nothing(child: Any) -> None:
    with pytest.raises(SchemaError, match="has no uid"):
        set_owner_reference(Toy(name="a", namespace="n", spec=Spec()), child)


def test_a_model_without_metadata_cannot_be_owned() -> None:
    with pytest.raises(SchemaError, match="ConfigMap: metadata is missing"):
        set_owner_reference(toy(), V1ConfigMap())

# SPDX-License-Identifier: Apache-2.0
"""Generated CRDs against the server that must take them: several versions, defaults, rules, scale, apply."""

import json
import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
import pytest_asyncio
from pydantic import Field

from dglop.errors import BadRequestError, ConflictError, InvalidError, NotFoundError
from dglop.runtime.api import (
    CEL,
    AtomicList,
    Column,
    Conversion,
    CustomResource,
    Embedded,
    Format,
    IntOrString,
    ListMap,
    ListSet,
    Nullable,
    Raw,
    Resource,
    Scale,
    Spec,
    Status,
    crd_manifest,
    is_controlled_by,
    owner_references,
)
from dglop.runtime.cache.entry import read_object
from dglop.runtime.claim import Claims
from dglop.runtime.client import Client
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds

CRD = Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)


class Part(Spec):
    name: str = Field(max_length=63)
    size: int = Field(default=1, ge=0)


class VesselSpec(
    Spec,
    rules=(
        CEL(
            "self.replicas <= self.most",
            expression="'too many for a ' + self.colour + ' vessel'",
            reason="FieldValueForbidden",
            field_path=".replicas",
        ),
    ),
):
    colour: Annotated[str, CEL("self == oldSelf", "the colour stays")] = Field(default="blue", max_length=20)
    replicas: int = Field(default=1, ge=0, le=100)
    most: int = Field(default=5, ge=0, le=100)
    parts: Annotated[list[Part], ListMap("name")] = Field(default_factory=list, max_length=9)
    tags: Annotated[list[str], ListSet] = Field(default_factory=list, max_length=9)
    steps: Annotated[list[int], AtomicList] = Field(default_factory=list, max_length=9)
    port: IntOrString = 80
    template: Raw = Field(default_factory=dict)
    inner: Embedded | None = None
    note: Annotated[str | None, Nullable] = None
    key: uuid.UUID | None = None
    block: Annotated[str | None, Format("cidr")] = None
    serial: Annotated[
        int | None,
        CEL("self > oldSelf.orValue(0)", "the serial only grows", optional_old_self=True),
    ] = Field(default=None, ge=0, le=1000)


class VesselStatus(Status):
    replicas: int = 0
    selector: str = ""


class Vessel(
    CustomResource[VesselSpec, VesselStatus],
    group="test.dglop.dev",
    version="v1",
    storage=True,
    short_names=("vsl",),
    categories=("fleet",),
    columns={"Colour": ".spec.colour", "Parts": Column(".spec.most", "integer", priority=1)},
    scale=Scale(selector_path=".status.selector"),
    selectable=(".spec.colour",),
):
    """A vessel."""


class EarlySpec(Spec):
    colour: str = "blue"


class EarlyVessel(
    CustomResource[EarlySpec, VesselStatus],
    group="test.dglop.dev",
    version="v1beta1",
    kind="Vessel",
    deprecation="use v1 vessels",
):
    """A vessel, as it was."""


@pytest_asyncio.fixture
async def here(client: Client, namespace: str) -> AsyncIterator[Client]:
    """The client, bound to a namespace, while vessels are served."""
    names = await install_crds(client, [EarlyVessel, Vessel], SystemClock())
    assert names == ["vessels.test.dglop.dev"]
    yield client.in_namespace(namespace)


def make_vessel(name: str = "v", **spec: Any) -> Vessel:
    return Vessel(name=name, spec=VesselSpec(**spec))


async def test_all_versions_are_served_and_the_marked_one_is_stored(here: Client) -> None:
    crd = await here.get(CRD, "vessels.test.dglop.dev")
    assert crd["status"]["storedVersions"] == ["v1"]
    served = [each for each in await here.mapper.all() if each.resource.kind == "Vessel"]
    assert [each.resource.version for each in served] == ["v1", "v1beta1"]
    assert served[0].short_names == ("vsl",)
    assert served[0].categories == ("fleet",)
    await here.create(make_vessel(colour="red"))
    assert (await here.get(EarlyVessel, "v")).spec.colour == "red"


async def test_the_server_fills_in_the_defaults_and_keeps_what_is_raw(here: Client) -> None:
    template = {"spec": {"limits": {"nvidia.com/gpu": 1}}}
    inner = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "anything": [1]}
    wire = make_vessel().to_wire() | {
        "spec": {"template": template, "inner": inner, "note": None, "port": "5%"}
    }
    made = await here.create(wire)
    assert made["spec"] == {
        "colour": "blue",
        "replicas": 1,
        "most": 5,
        "template": template,
        "inner": inner,
        "note": None,
        "port": "5%",
    }


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"replicas": 6}, r"spec\.replicas: Forbidden: too many for a blue vessel"),
        ({"replicas": 101}, "should be less than or equal to 100"),
        ({"tags": ["a", "a"]}, "Duplicate value"),
        ({"parts": [{"name": "a"}, {"name": "a"}]}, "Duplicate value"),
        ({"key": "no uuid"}, "must be of type uuid"),
        ({"block": "1.2.3"}, "must be of type cidr"),
        ({"serial": 0}, "the serial only grows"),
        ({"inner": {"no": "kind"}}, r"spec\.inner\.(apiVersion|kind): Required value"),
    ],
)
async def test_the_server_refuses_what_the_types_forbid(here: Client, spec: Any, message: str) -> None:
    with pytest.raises(InvalidError, match=message):
        await here.create({**make_vessel().to_wire(), "spec": spec})


async def test_rules_over_time_hold(here: Client) -> None:
    await here.create(make_vessel(serial=5))
    with pytest.raises(InvalidError, match="the colour stays"):
        await here.patch(Vessel, "v", None, {"spec": {"colour": "red", "serial": 6}})
    with pytest.raises(InvalidError, match="the serial only grows"):
        await here.patch(Vessel, "v", None, {"spec": {"serial": 4}})
    await here.patch(Vessel, "v", None, {"spec": {"serial": 6}})


async def test_a_typed_object_with_a_field_that_the_server_lacks_is_refused(here: Client) -> None:
    class NewSpec(EarlySpec):
        sails: int = 3

    class NewVessel(
        CustomResource[NewSpec, VesselStatus], group="test.dglop.dev", version="v1beta1", kind="Vessel"
    ):
        """A vessel of tomorrow."""

    with pytest.raises(BadRequestError, match=r'unknown field "spec\.sails"'):
        await here.create(NewVessel(name="n", spec=NewSpec()))
    made = await here.with_validation("Ignore").create(NewVessel(name="n", spec=NewSpec()).to_wire())
    assert "sails" not in made["spec"]


async def test_a_custom_kind_scales_and_its_fields_select(here: Client) -> None:
    await here.create(make_vessel("a", colour="red"))
    await here.create(make_vessel("b"))
    await here.patch(
        Vessel, "a", None, {"status": {"replicas": 1, "selector": "app=a"}}, subresource="status"
    )
    scale = here.subresource(Vessel, "scale")
    await scale.patch("a", {"spec": {"replicas": 3}})
    found = await scale.get("a")
    assert (found["spec"], found["status"]) == ({"replicas": 3}, {"replicas": 1, "selector": "app=a"})
    assert [each.name for each in await here.list(Vessel, fields="spec.colour=red")] == ["a"]


async def test_lists_merge_under_apply_as_they_are_marked(here: Client) -> None:
    def applied(**spec: Any) -> dict[str, Any]:
        head = {"apiVersion": Vessel.resource.api_version, "kind": "Vessel", "metadata": {"name": "v"}}
        return {**head, "spec": spec}

    await here.apply(applied(parts=[{"name": "a"}], tags=["x"], steps=[1]), field_manager="one")
    found = await here.apply(applied(parts=[{"name": "b"}], tags=["y"], steps=[2]), field_manager="two")
    spec = found["spec"]
    assert [each["name"] for each in spec["parts"]] == ["a", "b"]
    assert (spec["tags"], spec["steps"]) == (["x", "y"], [2])


async def test_custom_children_are_adopted_and_let_go_in_the_state_that_was_seen(here: Client) -> None:
    owner, child = await here.create(make_vessel("owner")), await here.create(make_vessel("child"))
    orphan = read_object(json.dumps(child.to_wire()).encode(), Vessel.resource)[0]
    assert await Claims(here, owner, lambda _: True).claim([orphan]) == [orphan]
    adopted = await here.get(Vessel, "child")
    assert is_controlled_by(adopted, owner)
    await here.patch(Vessel, "child", None, {"metadata": {"labels": {"a": "b"}}})
    stale = read_object(json.dumps(adopted.to_wire()).encode(), Vessel.resource)[0]
    with pytest.raises(ConflictError):
        await Claims(here, owner, lambda _: False).claim([stale])
    fresh = await here.get(Vessel, "child")
    seen = read_object(json.dumps(fresh.to_wire()).encode(), Vessel.resource)[0]
    assert await Claims(here, owner, lambda _: False).claim([seen]) == []
    assert owner_references(await here.get(Vessel, "child")) == []


async def test_a_conversion_stanza_is_taken(client: Client) -> None:
    conversion = Conversion(service="converter", namespace="default", review_versions=("v1",))
    made = await client.dry_run().apply(crd_manifest(EarlyVessel, Vessel, conversion=conversion))
    assert made["spec"]["conversion"]["strategy"] == "Webhook"
    assert made["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["path"] == "/convert"


async def test_a_kind_that_is_installed_later_is_found(client: Client, namespace: str) -> None:
    class Latecomer(CustomResource[Spec, Status], group="test.dglop.dev", version="v1"):
        """Comes late."""

    wire = Latecomer(name="l", namespace=namespace, spec=Spec()).to_wire()
    with pytest.raises(NotFoundError, match="is its CRD installed"):
        await client.create(wire)
    await install_crds(client, [Latecomer], SystemClock())
    assert (await client.create(wire))["metadata"]["uid"]

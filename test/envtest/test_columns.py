# SPDX-License-Identifier: Apache-2.0
"""The columns of a user's kind, as the API server makes them for kubectl."""

import json

from dglop.runtime.api import Column, CustomResource, Spec, Status
from dglop.runtime.client import Client
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds


class BuoySpec(Spec):
    colour: str = "red"
    lights: int = 5


class Buoy(
    CustomResource[BuoySpec, Status],
    group="test.dglop.dev",
    version="v1",
    columns={"Colour": ".spec.colour", "Lights": Column(".spec.lights", "integer", priority=1)},
):
    """A buoy."""


async def test_the_server_makes_a_users_columns(client: Client, namespace: str) -> None:
    await install_crds(client, [Buoy], SystemClock())
    await client.create(Buoy(name="a", namespace=namespace, spec=BuoySpec()))
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    table = json.loads(await client.raw("GET", Buoy.resource.path(namespace), accept=accept))
    columns = [(each["name"], each["type"], each["priority"]) for each in table["columnDefinitions"]]
    assert columns == [
        ("Name", "string", 0),
        ("Colour", "string", 0),
        ("Lights", "integer", 1),
        ("Age", "date", 0),
    ]
    assert [row["cells"][:3] for row in table["rows"]] == [["a", "red", 5]]

# SPDX-License-Identifier: Apache-2.0
"""Durations and quantities of one's own kinds, as the API server checks them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from dglop import CEL, CustomResource, InvalidError, Spec, Status
from dglop.runtime.api import Quantity  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from dglop.testing import TestCluster


class ClockSpec(Spec, rules=(CEL("self.low <= self.high", "low must not be over high", field_path=".low"),)):
    keep: timedelta = timedelta(hours=72)
    size: Quantity = "4"
    low: int = 0
    high: int = 1


class Clock(CustomResource[ClockSpec, Status], group="example.dev", version="v1"):
    """A kind with a time and an amount."""


def wire(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.dev/v1", "kind": "Clock", "metadata": {"name": "a"}, "spec": spec}


async def test_what_the_server_takes_for_a_duration_or_a_quantity_is_read(cluster: TestCluster):
    await cluster.install(Clock)
    await cluster.client.create(wire())
    assert (await cluster.client.get(Clock, "a")).spec.keep == timedelta(hours=72)
    for text, time in (("1.5h", timedelta(minutes=90)), ("3d", timedelta(days=3))):
        await cluster.client.patch(Clock, "a", None, {"spec": {"keep": text, "size": 3}})
        found = await cluster.client.get(Clock, "a")
        assert (found.spec.keep, found.spec.size) == (time, "3")
    await cluster.client.apply(Clock(name="a", spec=ClockSpec(keep=timedelta(milliseconds=1500))))
    assert (await cluster.client.get("clocks.example.dev", "a"))["spec"]["keep"] == "1.5s"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"keep": "lots"}, "duration"),
        ({"size": "lots"}, "should match"),
        ({"low": 2}, r"spec\.low: Invalid value.*low must not be over high"),
    ],
)
async def test_what_cannot_be_read_is_not_taken(cluster: TestCluster, spec: dict[str, Any], says: str):
    await cluster.install(Clock)
    with pytest.raises(InvalidError, match=says):
        await cluster.client.create(wire(**spec))

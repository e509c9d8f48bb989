# SPDX-License-Identifier: Apache-2.0
"""Of models made at random: a real server takes their CRDs and objects, and they read its answer."""

import types
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dglop.runtime.api import CustomResource, Status
from dglop.runtime.client import Client
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from test.genmodels import Made, made_models

KINDS = 8


def drawn() -> list[Made]:
    """The same models in each run."""
    found: list[Made] = []

    @settings(
        max_examples=1,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(made_models(), min_size=KINDS, max_size=KINDS))
    def draw(made: list[Made]) -> None:
        found[:] = made

    draw()
    return found


async def test_a_real_server_takes_what_a_model_writes_and_the_model_reads_its_answer(client: Client) -> None:
    base: Any = CustomResource
    for index, made in enumerate(drawn()):
        keywords = {"group": "made.example.dev", "version": "v1", "kind": f"Made{index}"}
        kind: Any = types.new_class(f"Made{index}", (base[made.cls, Status],), keywords)
        await install_crds(client, [kind], SystemClock())
        await client.create(kind(name="a", spec=made.value))
        assert (await client.get(kind, "a")).spec == made.value

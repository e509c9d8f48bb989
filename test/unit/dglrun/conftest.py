# SPDX-License-Identifier: Apache-2.0
"""The zipapp as it is delivered, gangs of Workers that run it, and a Launcher's API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hack.zipapp import build_zipapp
from test.unit.dglrun.dglrun_apiserver import cluster
from test.unit.dglrun.dglrun_gang import Gang

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from test.unit.dglrun.dglrun_apiserver import Cluster


@pytest.fixture(scope="session")
def zipapp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_zipapp(tmp_path_factory.mktemp("zipapp") / "dglrun.pyz")


@pytest.fixture
def make_gang(tmp_path: Path, zipapp: Path) -> Iterator[Callable[..., Gang]]:
    gangs: list[Gang] = []

    def make(**more: str) -> Gang:
        gangs.append(Gang(tmp_path / f"gang{len(gangs)}", zipapp, more))
        return gangs[-1]

    yield make
    for gang in gangs:
        gang.kill()


@pytest.fixture
def server() -> Iterator[Cluster]:
    """An API server that runs what is exec'd."""
    with cluster() as made:
        yield made

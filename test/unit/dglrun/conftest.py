# SPDX-License-Identifier: Apache-2.0
"""The zipapp as it is delivered, and gangs of Workers that run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hack.zipapp import build_zipapp
from test.unit.dglrun.dglrun_gang import Gang

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


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

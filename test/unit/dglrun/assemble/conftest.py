# SPDX-License-Identifier: Apache-2.0
"""A graph in files, and Workers that make its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.dglrun.assemble.copied import write_chunked
from test.unit.dglrun.assemble.assemble_graphs import library
from test.unit.dglrun.assemble.assemble_pods import Pods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def dataset(tmp_path: Path) -> str:
    (tmp_path / "data").mkdir()
    write_chunked(library(), str(tmp_path / "data"))
    return f"file://{tmp_path / 'data'}"


@pytest.fixture
def pods(tmp_path: Path, dataset: str, zipapp: Path) -> Iterator[Callable[..., Pods]]:
    made: list[Pods] = []

    def make(count: int, **more: str) -> Pods:
        made.append(Pods(tmp_path, dataset, count, zipapp, **more))
        return made[-1]

    yield make
    for each in made:
        each.kill()

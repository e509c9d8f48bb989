# SPDX-License-Identifier: Apache-2.0
"""A share of text is read by its bytes, and several processes count its lines together."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.dglrun.inputs.csv_lines import Lines, count_lines
from test.unit.dglrun.inputs.graphs import csv, opened

if TYPE_CHECKING:
    from pathlib import Path

EDGE = ("_N", "_E", "_N")


class Peers:
    """Processes as threads."""

    def __init__(self, rank: int, size: int, barrier: threading.Barrier, told: list[Any]) -> None:
        self.rank, self.size = rank, size
        self._barrier, self._told = barrier, told

    def share(self, told: Any) -> list[Any]:
        self._told[self.rank] = told
        self._barrier.wait()
        found = list(self._told)
        self._barrier.wait()
        return found


def together(size: int, do: Any) -> list[Any]:
    barrier, told, results = threading.Barrier(size), [None] * size, [None] * size

    def run(rank: int) -> None:
        results[rank] = do(Peers(rank, size, barrier, told))

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@given(
    lines=st.lists(st.text("ab", max_size=5), max_size=30),
    ending=st.sampled_from(["", "\n", "\n\n", "\r\n "]),
    block=st.integers(1, 9),
    cut=st.tuples(st.integers(0, 30), st.integers(0, 30)),
)
def test_lines_are_found_by_their_bytes(
    tmp_path_factory, lines: list[str], ending: str, block: int, cut: tuple[int, int]
):
    while lines and not lines[-1]:
        lines.pop()  # blank lines at the end do not count
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_bytes(("\n".join(lines) + ending).encode())
    found = Lines(str(path), block=block)
    count_lines([found])

    assert found.rows == len(lines)
    lo, hi = min(*cut, len(lines)), min(max(cut), len(lines))
    assert found.read(lo, hi).decode().split("\n")[: hi - lo] == lines[lo:hi]


def test_a_share_reads_its_own_bytes_and_little_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = 100_000
    path = csv(tmp_path / "g.csv", *(f"{row},{row + 1}" for row in range(rows)))
    monkeypatch.setattr("dglop.dglrun.inputs.csv_lines.BLOCK", 4096)
    lines = Lines(str(path), block=4096)
    count_lines([lines])
    read: list[int] = []
    whole = Lines._bytes

    def counted(self: Lines, begin: int, end: int) -> bytes:
        read.append(end - begin)
        return whole(self, begin, end)

    monkeypatch.setattr(Lines, "_bytes", counted)

    lines.read(rows // 2, rows // 2 + rows // 100)

    assert sum(read) < path.stat().st_size // 100 * 2 + 2 * 4096


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_processes_together_see_the_same_graph_and_count_a_share_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
):
    monkeypatch.setattr("dglop.dglrun.inputs.plain._STEP", 100)
    monkeypatch.setattr("dglop.dglrun.inputs.csv_lines._MOST_BLOCKS", 10**9)
    edges = np.random.default_rng(1).integers(0, 5000, (3000, 2))
    path = csv(tmp_path / "g.csv", "src,dst", *(f"{a},{b}" for a, b in edges))
    monkeypatch.setattr("dglop.dglrun.inputs.csv_file.Lines", lambda path, begin: Lines(path, begin, 1000))

    def read(peers: Any) -> tuple[dict[str, int], list[Any]]:
        source = opened(path, peers=peers)
        lo, hi = 3000 * peers.rank // size, 3000 * (peers.rank + 1) // size
        return source.schema.ntypes, np.stack(source.edges(EDGE, lo, hi), axis=1).tolist()

    found = together(size, read)

    assert [nodes for nodes, _ in found] == [{"_N": int(edges.max()) + 1}] * size
    assert [row for _, rows in found for row in rows] == edges.tolist()


def test_text_with_carriage_returns_and_no_last_line_end_is_read(tmp_path: Path):
    (tmp_path / "g.csv").write_bytes(b"src,dst,w\r\n0,1,0.5\r\n1,2,1e-3\r\n2,0,nan")
    source = opened(tmp_path / "g.csv")

    assert source.edges(EDGE, 0, 3)[1].tolist() == [1, 2, 0]
    assert source.edge_data(EDGE, "w", 1, 2).tolist() == pytest.approx([1e-3])
    assert np.isnan(source.edge_data(EDGE, "w", 2, 3)[0])


def test_a_file_of_more_lines_than_are_parsed_at_once_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("dglop.dglrun.inputs.csv_file._PIECE", 7)
    source = opened(csv(tmp_path / "g.csv", *(f"{row},0" for row in range(100))))

    assert source.edges(EDGE, 3, 97)[0].tolist() == list(range(3, 97))

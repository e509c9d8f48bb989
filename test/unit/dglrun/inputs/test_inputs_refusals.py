# SPDX-License-Identifier: Apache-2.0
"""What is wrong with an input is said with the file, the place and the value."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dglop.dglrun.ending import Refusal
from test.unit.dglrun.inputs.graphs import BUYS, Hetero, csv, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EDGE = ("_N", "_E", "_N")


def refused(do: Callable[[], Any]) -> str:
    with pytest.raises(Refusal) as caught:
        do()
    assert caught.value.reason == "ConfigInvalid"
    return caught.value.sentence


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["0,1", "1,2", "1"], "line 3 has 1 columns, the first line has 2 (delimiter ','): 1"),
        (["0,1", "1,2,3"], "line 2 has 3 columns"),
        (["src,dst", "0,1", "one,2"], "line 3, column src: 'one' is no whole number of type int64"),
        (["0,1", "0,1.5"], "line 2, column 2: '1.5' is no"),
        (["0,1", "0,"], "line 2, column 2: '' is no"),
        (["0,1", "", "1,2"], "line 2 is blank"),
        (["0,1", '"1",2'], 'line 2: "1",2: quoted values are not read'),
        (["0,1", "99999999999999999999,2"], "line 2, column 1: '99999999999999999999' is no"),
        (["0", "1"], "has 1 columns: an edge has two"),
        (["0.5,1.5"], "line 1, column 1: '0.5' is no whole number"),
    ],
)
def test_a_line_that_is_no_edge_is_named(tmp_path: Path, rows: list[str], said: str):
    path = csv(tmp_path / "g.csv", *rows)

    sentence = refused(lambda: opened(path, nodes=10).edges(EDGE, 0, len(rows)))

    assert str(path) in sentence
    assert said in sentence


@pytest.mark.parametrize(
    ("row", "word"), [("7,1", "source id 7"), ("1,7", "destination id 7"), ("-1,1", "id -1")]
)
def test_an_id_that_is_no_node_is_named_with_its_line(tmp_path: Path, row: str, word: str):
    source = opened(csv(tmp_path / "g.csv", "src,dst", "0,1", row), nodes=7)

    sentence = refused(lambda: source.edges(EDGE, 1, 2))

    assert f"{tmp_path}/g.csv line 3: {word[:-2]}" in sentence or f"line 3: source {word}" in sentence
    assert "whose ids are 0 to 6" in sentence


def test_an_id_that_is_no_node_is_named_in_a_later_chunk(tmp_path: Path):
    graph = Hetero()
    graph.buys = np.array([[0, 2], [4, 0], [1, 4]])
    source = opened(graph.write(tmp_path, "numpy", chunks=3))

    sentence = refused(lambda: source.edges(BUYS, 0, 3))

    assert f"{tmp_path}/buys-2.npy row 0".replace(".npy", ".numpy") in sentence
    assert "destination id 4 of edges user:buys:item is not among the 4 nodes of type item" in sentence


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["id,label", "0,1", "2,1"], "nodes.csv line 3: the id is 2, in the order of the rows it must be 1"),
        (["1", "2"], "nodes.csv has columns without names"),
        (["label", "1", "x"], "nodes.csv line 3, column label: 'x' is no number"),
        (["train_mask", "1", "2"], "nodes.csv line 3, column train_mask: '2' is no truth"),
    ],
)
def test_nodes_that_are_wrong_are_named(tmp_path: Path, rows: list[str], said: str):
    csv(tmp_path / "edges.csv", "0,1")
    csv(tmp_path / "nodes.csv", *rows)

    def read():
        source = opened(tmp_path)
        for name in source.schema.names("_N"):
            source.node_data("_N", name, 0, 2)

    assert said in refused(read)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"node_type": ["user"]}, "node_type names 1 types, there are counts for 2"),
        (
            {"node_type": ["user", "thing"]},
            "edges user:buys:item: there is no node type item, only thing, user",
        ),
        (
            {"edge_type": ["user:knows:user", "buys"]},
            "'buys' is no edge type: write source:relation:destination",
        ),
        ({"num_nodes_per_chunk": [[6], [4]]}, "feature feat of nodes of type user has 5 rows, there are 6"),
        ({"num_edges_per_chunk": [[4], [3]]}, "says edges user:knows:user [4], the files have [5]"),
        ({"num_edges_per_chunk": [["5"], [3]]}, "the numbers of edges are no whole numbers"),
        ({"edges": {}}, "has no user:knows:user"),
        ({"node_data": {"user": {"feat": {"data": ["feat-0.csv"]}}}}, "there is no format '', only csv"),
        (
            {"node_data": {"user": {"feat": {"format": {"name": "csv"}, "data": []}}}},
            "names no files in data",
        ),
        (
            {"node_data": {"shop": {"feat": {"format": {"name": "csv"}, "data": ["feat-0.csv"]}}}},
            "no nodes of type",
        ),
        (
            {
                "node_data": {
                    "user": {"feat": {"format": {"name": "csv"}, "data": ["feat-0.csv"], "dtype": "text"}}
                }
            },
            "there is no dtype 'text'",
        ),
        ({"graph_name": "../up"}, "the graph's name '../up' must be of letters"),
    ],
)
def test_a_description_that_contradicts_itself_or_the_files_is_refused(
    tmp_path: Path, change: dict[str, Any], said: str
):
    folder = Hetero().write(tmp_path, "csv", **change)

    assert said in refused(lambda: opened(folder))


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_description_that_is_none_is_refused(tmp_path: Path, text: str):
    (tmp_path / "metadata.json").write_text(text)

    assert "metadata.json" in refused(lambda: opened(tmp_path))


def test_a_description_without_a_name_for_the_graph_says_so(tmp_path: Path):
    data = json.loads((Hetero().write(tmp_path, "csv") / "metadata.json").read_text())
    del data["graph_name"]
    (tmp_path / "metadata.json").write_text(json.dumps(data))

    assert "has no graph_name" in refused(lambda: opened(tmp_path))


def test_a_file_that_a_description_names_must_be_there(tmp_path: Path):
    for form in ("csv", "numpy", "parquet"):
        folder = Hetero().write(tmp_path / form, form)
        (folder / f"feat-0.{form}").unlink()

        assert f"feat-0.{form}" in refused(partial(opened, folder))


def test_what_is_no_array_is_refused(tmp_path: Path):
    (tmp_path / "text.npy").write_text("0,1\n")
    np.savez(tmp_path / "several", a=np.ones(2), b=np.ones(2))
    (tmp_path / "several.npz").rename(tmp_path / "several.npy")
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    np.save(tmp_path / "floats.npy", np.ones((3, 2)))

    assert "is no array of NumPy" in refused(lambda: opened(tmp_path / "text.npy"))
    assert "holds several arrays" in refused(lambda: opened(tmp_path / "several.npy"))
    assert "holds values of type" in refused(lambda: opened(tmp_path / "words.npy"))
    assert "an edge is two whole numbers" in refused(lambda: opened(tmp_path / "floats.npy"))


def test_parquet_with_missing_values_or_lists_of_unequal_length_is_refused(tmp_path: Path):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "g.parquet"
    parquet.write_table(
        pa.table({"src": [0, None, 1], "dst": [1, 2, 0], "w": [[1.0], [2.0, 3.0], [4.0]]}), path
    )

    assert "column src, from row 0 on: 1 values are missing" in refused(lambda: opened(path))
    parquet.write_table(pa.table({"src": [0, 1, 1], "dst": [1, 2, 0], "w": [[1.0], [2.0, 3.0], [4.0]]}), path)
    source = opened(path)
    assert "the lists have 1 and 2 values" in refused(lambda: source.edge_data(EDGE, "w", 0, 3))


def test_an_image_without_pyarrow_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = Hetero().write(tmp_path, "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    assert "this image has no pyarrow to read it" in refused(lambda: opened(folder))


def test_several_pods_do_not_take_a_file_that_can_only_be_read_whole(tmp_path: Path):
    (tmp_path / "graph.dgl").write_bytes(b"\0")

    assert "with partitionMode MSP bring the graph as NumPy" in refused(
        lambda: opened(tmp_path / "graph.dgl", shares=True)
    )


def test_what_is_not_there_and_what_is_nothing_is_refused(tmp_path: Path):
    assert "does not exist in the pod" in refused(lambda: opened(tmp_path / "nowhere"))
    assert "holds neither metadata.json nor edges.csv" in refused(lambda: opened(tmp_path))
    csv(tmp_path / "edges.csv", "0,1")
    np.save(tmp_path / "edges.npy", np.zeros((1, 2), int))
    assert "there is edges.csv and edges.npy" in refused(lambda: opened(tmp_path))
    assert "there are dgl, csv, numpy, parquet, chunked" in refused(lambda: opened(tmp_path, form="json"))


@pytest.mark.parametrize("text", [b"", b"\n\n", b"src,dst\n"])
def test_a_file_without_edges_is_a_graph_without_any_or_refused(tmp_path: Path, text: bytes):
    (tmp_path / "g.csv").write_bytes(text)
    if b"src" in text:
        assert opened(tmp_path / "g.csv", nodes=3).schema.etypes == {EDGE: 0}
    else:
        assert "has 0 columns: an edge has two" in refused(lambda: opened(tmp_path / "g.csv", nodes=3))


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"\xef\xbb\xbf0,1\n", "byte order mark"), (b"0,1\n\0\0", "is no text")],
)
def test_text_that_is_none_is_refused(tmp_path: Path, text: bytes, said: str):
    (tmp_path / "g.csv").write_bytes(text)

    assert said in refused(lambda: opened(tmp_path / "g.csv"))

# SPDX-License-Identifier: Apache-2.0
"""The same graph comes out of every format, whole and in any share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from test.unit.dglrun.inputs.graphs import BUYS, KNOWS, Hetero, csv, opened

if TYPE_CHECKING:
    from pathlib import Path

SHARES = [(0, 5), (0, 0), (0, 2), (1, 4), (4, 5), (5, 5)]


@pytest.mark.parametrize("chunks", [1, 2, 3])
@pytest.mark.parametrize("form", ["numpy", "csv", "parquet"])
def test_a_described_graph_has_its_types_counts_and_features(tmp_path: Path, form: str, chunks: int):
    schema = opened(Hetero().write(tmp_path / "shop", form, chunks)).schema

    assert schema.graph == "shop"
    assert schema.ntypes == {"user": 5, "item": 4}
    assert schema.etypes == {KNOWS: 5, BUYS: 3}
    assert schema.features == {
        ("user", "feat"): (np.dtype("float32"), (3,)),
        ("user", "train_mask"): (np.dtype("bool"), ()),
        ("item", "price"): (np.dtype("int64"), ()),
        (BUYS, "weight"): (np.dtype("float32"), ()),
    }


@pytest.mark.parametrize("chunks", [1, 2, 3])
@pytest.mark.parametrize("form", ["numpy", "csv", "parquet"])
def test_every_share_of_a_described_graph_is_that_of_the_whole(tmp_path: Path, form: str, chunks: int):
    graph = Hetero()
    source = opened(graph.write(tmp_path / "shop", form, chunks))

    for lo, hi in SHARES:
        ends = source.edges(KNOWS, lo, hi)
        assert [column.dtype for column in ends] == [np.int64, np.int64]
        assert np.stack(ends, axis=1).tolist() == graph.knows[lo:hi].tolist()
        assert source.node_data("user", "feat", lo, hi).tolist() == graph.feat[lo:hi].tolist()
        assert source.node_data("user", "train_mask", lo, hi).tolist() == graph.train_mask[lo:hi].tolist()
    assert source.edge_data(BUYS, "weight", 1, 3).tolist() == [0.25, 0.125]
    assert source.node_data("item", "price", 0, 4).dtype == np.int64


def test_a_list_of_edges_alone_is_a_graph_with_as_many_nodes_as_the_greatest_id_says(tmp_path: Path):
    source = opened(csv(tmp_path / "roads.csv", "0,1", "1,0", "0,1", "6,2"))

    assert source.schema.graph == "roads"
    assert source.schema.ntypes == {"_N": 7}
    assert source.schema.etypes == {("_N", "_E", "_N"): 4}
    assert source.edges(("_N", "_E", "_N"), 1, 4)[0].tolist() == [1, 0, 6]


def test_isolated_nodes_after_the_last_that_has_an_edge_are_there_when_their_number_is_said(tmp_path: Path):
    assert opened(csv(tmp_path / "roads.csv", "0,1"), nodes=9).schema.ntypes == {"_N": 9}


@pytest.mark.parametrize(
    "rows",
    [
        ["weight,dst,src", "0.5,1,0", "0.25,2,1"],
        ["src\tdst\tweight", "0\t1\t0.5", "1\t2\t.25"],
        ["source;target;weight", "0;1;0.5", "1;2;2.5e-1"],
    ],
)
def test_columns_are_found_by_name_whatever_the_order_and_the_delimiter(tmp_path: Path, rows: list[str]):
    source = opened(csv(tmp_path / "g.csv", *rows))
    etype = ("_N", "_E", "_N")

    assert [column.tolist() for column in source.edges(etype, 0, 2)] == [[0, 1], [1, 2]]
    assert source.edge_data(etype, "weight", 0, 2).tolist() == [0.5, 0.25]


def test_a_folder_of_text_has_nodes_with_features_masks_and_numbered_columns(tmp_path: Path):
    csv(tmp_path / "edges.csv", "src,dst", "0,1", "2,1")
    csv(
        tmp_path / "nodes.csv",
        "id,label,train_mask,feat_0,feat_1",
        "0,3,1,0.5,1",
        "1,4,0,2,3",
        "2,5,true,4,5",
    )
    source = opened(tmp_path)

    assert source.schema.features == {
        ("_N", "label"): (np.dtype("int64"), ()),
        ("_N", "train_mask"): (np.dtype("bool"), ()),
        ("_N", "feat"): (np.dtype("float32"), (2,)),
    }
    assert source.node_data("_N", "train_mask", 0, 3).tolist() == [True, False, True]
    assert source.node_data("_N", "feat", 1, 3).tolist() == [[2, 3], [4, 5]]


def test_a_folder_of_arrays_has_a_feature_in_each_file(tmp_path: Path):
    (tmp_path / "node_data").mkdir()
    np.save(tmp_path / "edges.npy", np.array([[0, 1, 2, 0], [1, 2, 3, 1]], dtype="uint32"))
    np.save(tmp_path / "node_data" / "feat.npy", np.ones((5, 2, 3), dtype="float64"))
    source = opened(tmp_path)

    assert source.schema.ntypes == {"_N": 5}
    assert source.schema.features == {("_N", "feat"): (np.dtype("float64"), (2, 3))}
    assert source.edges(("_N", "_E", "_N"), 2, 4)[1].tolist() == [3, 1]


def test_parquet_takes_lists_as_rows_of_a_feature(tmp_path: Path):
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({"src": [0, 1, 2], "dst": [1, 2, 0], "feat": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
    parquet.write_table(table, tmp_path / "g.parquet", row_group_size=2)
    source = opened(tmp_path / "g.parquet")
    etype = ("_N", "_E", "_N")

    assert source.schema.features == {(etype, "feat"): (np.dtype("float64"), (2,))}
    assert source.edge_data(etype, "feat", 1, 3).tolist() == [[3, 4], [5, 6]]
    assert source.edge_data(etype, "feat", 0, 0).shape == (0, 2)


def test_newer_descriptions_say_how_many_of_each_type_there_are(tmp_path: Path):
    folder = Hetero().write(tmp_path / "g", "numpy", num_nodes_per_type=[5, 4], num_edges_per_type=[5, 3])

    assert opened(folder).schema.etypes == {KNOWS: 5, BUYS: 3}


def test_a_dtype_that_the_description_states_goes_before_the_guess(tmp_path: Path):
    graph = Hetero()
    folder = graph.write(tmp_path / "g", "csv")
    price = {"item": {"price": {"format": {"name": "csv"}, "data": ["price-0.csv"], "dtype": "float32"}}}
    source = opened(graph.write(folder, "csv", node_data=price))

    assert source.schema.features[("item", "price")] == (np.dtype("float32"), ())


def test_a_graph_keeps_the_name_that_it_is_given(tmp_path: Path):
    assert opened(Hetero().write(tmp_path / "g", "numpy"), name="mine").schema.graph == "mine"

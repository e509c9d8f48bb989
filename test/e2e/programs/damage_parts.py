# SPDX-License-Identifier: Apache-2.0
"""Spoils the parts of a graph in every way that a partitioning can be wrong; what verify-parts says of each.

Prints one line of JSON: by damage the problems that were found in it; "" has those of the parts as made.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import dgl
import torch
from dgl.data.utils import load_tensors, save_tensors
from dglrun.compare.command import compare
from dglrun.compare.findings import Findings
from dglrun.inputs.synthetic import synthetic_hetero
from dglrun.single import write_parts

PART = "part1"


class Spoiler:
    """The files of one part, changed in place."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def path(self, name: str) -> Path:
        return self.folder / PART / f"{name}.dgl"

    def tensors(self, name: str, change) -> None:
        held = load_tensors(str(self.path(name)))
        change(held)
        save_tensors(str(self.path(name)), held)

    def graph(self, change) -> None:
        held = dgl.load_graphs(str(self.path("graph")))[0][0]
        dgl.save_graphs(str(self.path("graph")), [change(held) or held])

    def config(self, change) -> None:
        path = self.folder / "g.json"
        held = json.loads(path.read_text())
        change(held)
        path.write_text(json.dumps(held))


def rebuilt(graph, ends, keep=None):
    """The graph with other edges and the same data."""
    keep = torch.ones(graph.num_edges(), dtype=torch.bool) if keep is None else keep
    source, target = ends
    made = dgl.graph((source[keep], target[keep]), num_nodes=graph.num_nodes())
    made.ndata.update(graph.ndata)
    made.edata.update({name: value[keep] for name, value in graph.edata.items()})
    return made


def swap(rows, one=0, other=-1):
    rows[one], rows[other] = rows[other].clone(), rows[one].clone()


def an_edge_has_another_source(spoiler):
    def change(graph):
        source, target = graph.edges()
        source, inner = source.clone(), graph.edata["inner_edge"].bool()
        # of the same type, so that nothing but the edge itself is wrong
        of_type = (graph.ndata["_TYPE"][source] == graph.ndata["_TYPE"][source[0]]) & inner
        other = source[of_type & (source != source[0])][0]
        source[0] = other
        return rebuilt(graph, (source, target))

    spoiler.graph(change)


def an_edge_ends_in_another_part(spoiler):
    def change(graph):
        source, target = graph.edges()
        target = target.clone()
        target[0] = (graph.ndata["inner_node"] == 0).nonzero()[0]
        return rebuilt(graph, (source, target))

    spoiler.graph(change)


def an_edge_is_missing(spoiler):
    def change(graph):
        keep = torch.ones(graph.num_edges(), dtype=torch.bool)
        keep[3] = False
        return rebuilt(graph, graph.edges(), keep)

    spoiler.graph(change)


def an_edge_is_there_twice(spoiler):
    def change(graph):
        graph.edata["_ID"][4] = graph.edata["_ID"][3]

    spoiler.graph(change)


def a_copy_of_an_edge_is_missing(spoiler):
    def change(graph):
        keep = torch.ones(graph.num_edges(), dtype=torch.bool)
        keep[(graph.edata["inner_edge"] == 0).nonzero()[0]] = False
        return rebuilt(graph, graph.edges(), keep)

    spoiler.graph(change)


def a_neighbour_is_another_node(spoiler):
    def change(graph):
        halo = (graph.ndata["inner_node"] == 0).nonzero().flatten()
        swap(graph.ndata["_ID"], int(halo[0]), int(halo[1]))

    spoiler.graph(change)


def an_outer_node_is_marked_as_inner(spoiler):
    def change(graph):
        graph.ndata["inner_node"][(graph.ndata["inner_node"] == 0).nonzero()[0]] = 1

    spoiler.graph(change)


def an_outer_edge_is_marked_as_inner(spoiler):
    def change(graph):
        graph.edata["inner_edge"][(graph.edata["inner_edge"] == 0).nonzero()[0]] = 1

    spoiler.graph(change)


def a_node_has_another_type(spoiler):
    spoiler.graph(lambda graph: graph.ndata["_TYPE"].__setitem__(0, 1 - graph.ndata["_TYPE"][0]))


def an_edge_has_another_type(spoiler):
    spoiler.graph(lambda graph: graph.edata["_TYPE"].__setitem__(0, (graph.edata["_TYPE"][0] + 1) % 3))


def a_node_is_said_to_be_of_another_part(spoiler):
    spoiler.graph(lambda graph: graph.ndata["part_id"].__setitem__(0, 0))


def two_nodes_have_changed_places(spoiler):
    spoiler.graph(lambda graph: swap(graph.ndata["_ID"], 0, 1))


def a_row_of_a_node_feature_differs(spoiler):
    spoiler.tensors("node_feat", lambda held: held["user/feat"][5].add_(1))


def two_rows_of_a_node_feature_have_changed_places(spoiler):
    spoiler.tensors("node_feat", lambda held: swap(held["user/feat"]))


def a_row_of_an_edge_feature_differs(spoiler):
    spoiler.tensors("edge_feat", lambda held: held["user:buys:item/count"][2].add_(1))


def a_mask_differs(spoiler):
    spoiler.tensors(
        "node_feat", lambda held: held["user/train_mask"].__setitem__(0, 1 - held["user/train_mask"][0])
    )


def a_feature_is_missing(spoiler):
    spoiler.tensors("node_feat", lambda held: held.pop("item/price"))


def a_feature_is_new(spoiler):
    spoiler.tensors(
        "edge_feat", lambda held: held.update({"user:buys:item/new": held["user:buys:item/count"]})
    )


def a_feature_has_another_type(spoiler):
    spoiler.tensors("node_feat", lambda held: held.update({"item/price": held["item/price"].float()}))


def a_feature_has_too_few_rows(spoiler):
    spoiler.tensors("node_feat", lambda held: held.update({"item/price": held["item/price"][1:].clone()}))


def a_feature_has_another_shape(spoiler):
    spoiler.tensors("node_feat", lambda held: held.update({"user/feat": held["user/feat"][:, 1:].clone()}))


def a_node_of_the_input_is_there_twice(spoiler):
    spoiler.tensors("orig_nids", lambda held: held["user"].__setitem__(0, held["user"][1]))


def a_node_is_none_of_the_input(spoiler):
    spoiler.tensors("orig_nids", lambda held: held["item"].__setitem__(0, 10**6))


def an_edge_of_the_input_is_there_twice(spoiler):
    spoiler.tensors(
        "orig_eids", lambda held: held["user:buys:item"].__setitem__(0, held["user:buys:item"][1])
    )


def two_edges_have_each_others_ids(spoiler):
    spoiler.tensors("orig_eids", lambda held: swap(held["user:follows:user"]))


def ids_of_edges_are_too_few(spoiler):
    spoiler.tensors(
        "orig_eids", lambda held: held.update({"user:buys:item": held["user:buys:item"][1:].clone()})
    )


def the_ranges_of_nodes_overlap(spoiler):
    spoiler.config(
        lambda held: held["node_map"]["user"][1].__setitem__(0, held["node_map"]["user"][1][0] - 1)
    )


def the_ranges_of_edges_are_of_other_types(spoiler):
    def change(held):
        ranges = held["edge_map"]
        ranges["user:buys:item"], ranges["user:follows:user"] = (
            ranges["user:follows:user"],
            ranges["user:buys:item"],
        )

    spoiler.config(change)


def the_types_have_other_numbers(spoiler):
    spoiler.config(lambda held: held.update(ntypes={"user": 0, "item": 1}))


def a_type_is_missing(spoiler):
    spoiler.config(lambda held: (held["ntypes"].pop("item"), held["node_map"].pop("item")))


def the_number_of_edges_is_another(spoiler):
    spoiler.config(lambda held: held.update(num_edges=held["num_edges"] - 1))


def original_ids_are_not_told(spoiler):
    spoiler.config(lambda held: held["part-1"].pop("orig_nids"))


def a_file_is_cut_off(spoiler):
    with spoiler.path("graph").open("r+b") as file:
        file.truncate(100)


def a_file_is_missing(spoiler):
    spoiler.path("edge_feat").unlink()


def main() -> None:
    source = synthetic_hetero(400, name="g")
    made = tempfile.mkdtemp()
    write_parts(source.to_graph(), "g", 3, made)
    damages = {name: each for name, each in globals().items() if getattr(each, "__code__", None)}
    for helper in (
        "main",
        "rebuilt",
        "swap",
        "compare",
        "synthetic_hetero",
        "write_parts",
        "load_tensors",
        "save_tensors",
    ):
        del damages[helper]
    found = {}
    for name, damage in {"": lambda _: None, **damages}.items():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(made, folder, dirs_exist_ok=True)
            damage(Spoiler(folder))
            findings = Findings()
            compare(source, folder, findings)
            found[name.replace("_", " ")] = findings.sentences
    if "DGLJOB_PARTS_DIR" in os.environ:
        write_parts(
            source.to_graph(), "g", int(os.environ["DGLJOB_NUM_PARTS"]), os.environ["DGLJOB_PARTS_DIR"]
        )
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

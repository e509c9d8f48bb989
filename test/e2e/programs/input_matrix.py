# SPDX-License-Identifier: Apache-2.0
"""Graphs in every format that dglrun reads: written for a job, or partitioned and compared here.

`write FOLDER` leaves `town` (text, one type) and `shop` (Parquet in chunks, several types) in it.
`compare` partitions each format of both, compares the parts with that input and with the same graph as DGL
itself saved it, and prints one line of JSON: what is wrong, by case. Then it leaves parts for the job.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

SHOP = {
    "user:follows:user": ("user", "user", 6),
    "user:buys:item": ("user", "item", 3),
    "item:bought-by:user": ("item", "user", 2),
}


class Graph:
    """Tables by where they belong: nodes[type][feature], edges[type], edge_data[type][feature]."""

    def __init__(self, name: str, counts: dict, edge_types: dict) -> None:
        random = np.random.default_rng(7)
        self.name, self.counts = name, counts
        self.label = {ntype: random.integers(0, 4, count) for ntype, count in counts.items()}
        self.nodes = {ntype: self._node_tables(ntype, random) for ntype in counts}
        self.edges = {etype: self._edge_table(random, *form) for etype, form in edge_types.items()}
        self.edge_data = {}
        for etype, ends in self.edges.items():
            weight = random.random(len(ends)).astype("float32")
            self.edge_data[etype] = {"weight": weight, "times": random.integers(1, 9, len(ends))}

    def _node_tables(self, ntype: str, random) -> dict:
        label, lot = self.label[ntype], random.random(self.counts[ntype])
        feat = random.normal(size=(len(label), 8)).astype("float32")
        feat[np.arange(len(label)), label] += 2
        masks = {"train_mask": lot < 0.6, "val_mask": (lot >= 0.6) & (lot < 0.8), "test_mask": lot >= 0.8}
        return {"feat": feat, "label": label, **masks}

    def _edge_table(self, random, source: str, target: str, degree: int):
        """Directed, mostly within a label; with parallel edges and loops; every tenth node has none."""
        ones, others = self.label[source], self.label[target]
        begins = np.repeat(np.flatnonzero(np.arange(len(ones)) % 10), degree)
        ends = random.integers(0, len(others) // 10, len(begins)) * 10 + random.integers(1, 10, len(begins))
        kept = (ones[begins] == others[ends]) | (random.random(len(begins)) < 0.3)
        edges = np.stack([begins, ends], axis=1)[kept]
        again = edges[random.random(len(edges)) < 0.1]
        return random.permutation(np.concatenate([edges, again]))


def town(nodes: int = 600) -> Graph:
    return Graph("town", {"_N": nodes}, {"_N:_E:_N": ("_N", "_N", 12)})


def shop(users: int = 400) -> Graph:
    return Graph("shop", {"user": users, "item": users // 2}, SHOP)


def put(path: Path, named: dict, delimiter: str = ",") -> None:
    """A table with a header; features of several columns are numbered."""
    columns = {}
    for name, array in named.items():
        wide = array.ndim > 1
        columns.update({f"{name}_{n}": array[:, n] for n in range(array.shape[1])} if wide else {name: array})
    if path.suffix == ".parquet":
        write_parquet(path, named if not any(each.ndim > 1 for each in named.values()) else lists(named))
        return
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    path.write_text(
        "\n".join([delimiter.join(columns)] + [delimiter.join(map(str, row)) for row in rows]) + "\n"
    )


def lists(named: dict) -> dict:
    return {name: list(array) if array.ndim > 1 else array for name, array in named.items()}


def write_parquet(path: Path, columns: dict) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), path, row_group_size=97)


def write_plain(graph: Graph, folder: Path, form: str) -> Path:
    """edges.* and nodes.*, or arrays in folders of their own."""
    folder.mkdir(parents=True)
    ends, data = graph.edges["_N:_E:_N"], graph.edge_data["_N:_E:_N"]
    if form == "numpy":
        np.save(folder / "edges.npy", ends)
        for kind, tables in (("node_data", graph.nodes["_N"]), ("edge_data", data)):
            (folder / kind).mkdir()
            for name, array in tables.items():
                np.save(folder / kind / f"{name}.npy", array)
        return folder
    put(folder / f"edges.{form}", {"src": ends[:, 0], "dst": ends[:, 1], **data})
    put(folder / f"nodes.{form}", {"id": np.arange(graph.counts["_N"]), **graph.nodes["_N"]})
    return folder


def write_chunked(graph: Graph, folder: Path, form: str, chunks: int) -> Path:
    """With DGL's metadata.json."""
    folder.mkdir(parents=True)
    files = iter(range(10**6))

    def saved(array) -> dict:
        names = []
        for piece in np.array_split(array, chunks):
            names.append(f"{next(files)}.{form}")
            write_piece(folder / names[-1], piece, form)
        return {"format": {"name": form, "delimiter": " "}, "data": names}

    def counts(array_lengths) -> list:
        return [[len(piece) for piece in np.array_split(np.arange(n), chunks)] for n in array_lengths]

    metadata = {
        "graph_name": graph.name,
        "node_type": list(graph.counts),
        "num_nodes_per_chunk": counts(graph.counts.values()),
        "edge_type": list(graph.edges),
        "num_edges_per_chunk": counts(map(len, graph.edges.values())),
        "edges": {etype: saved(ends) for etype, ends in graph.edges.items()},
        "node_data": {kind: {n: saved(a) for n, a in tables.items()} for kind, tables in graph.nodes.items()},
        "edge_data": {kind: {n: saved(a) for n, a in t.items()} for kind, t in graph.edge_data.items()},
    }
    (folder / "metadata.json").write_text(json.dumps(metadata))
    return folder


def write_piece(path: Path, piece, form: str) -> None:
    if form == "numpy":
        with path.open("wb") as file:
            np.save(file, piece)
    elif form == "parquet":
        columns = piece.T if piece.ndim > 1 else [piece]
        write_parquet(path, {str(n): column for n, column in enumerate(columns)})
    else:
        rows = piece.reshape(len(piece), -1).tolist()
        path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))


def write_saved(graph: Graph, path: Path) -> Path:
    """As DGL saves it, made without any of our code."""
    import dgl
    import torch

    ends = {
        tuple(e.split(":")): (torch.tensor(t[:, 0]), torch.tensor(t[:, 1])) for e, t in graph.edges.items()
    }
    made = dgl.heterograph(ends, num_nodes_dict=graph.counts)
    for kind, tables in graph.nodes.items():
        made.nodes[kind].data.update({name: torch.tensor(array) for name, array in tables.items()})
    for kind, tables in graph.edge_data.items():
        made.edges[tuple(kind.split(":"))].data.update({n: torch.tensor(a) for n, a in tables.items()})
    dgl.save_graphs(str(path), [made])
    return path


def cases(folder: Path):
    """(name of the case, the input, the same graph as DGL saved it)."""
    for graph in (town(), shop()):
        saved = write_saved(graph, folder / f"{graph.name}.dgl")
        yield f"{graph.name} dgl", saved, saved
        if graph.name == "town":
            for form in ("csv", "numpy", "parquet"):
                yield f"town {form}", write_plain(graph, folder / f"town-{form}" / "town", form), saved
        for form in ("csv", "numpy", "parquet"):
            for chunks in (1, 3):
                name = f"{graph.name}-{form}-{chunks}"
                yield name, write_chunked(graph, folder / name, form, chunks), saved


def partitioned(url: Path, parts: int, folder: str, **more: str) -> dict:
    from dglrun.env import Env
    from dglrun.single import partition_dataset

    settings = {
        "DGLJOB_DATASET_URL": f"file://{url}",
        "DGLJOB_NUM_PARTS": str(parts),
        "DGLJOB_PARTS_DIR": folder,
    }
    partition_dataset(Env({**settings, **more}))
    return settings


def problems(url: Path, folder: str) -> list:
    from dglrun.compare.command import compare
    from dglrun.compare.findings import Findings
    from dglrun.inputs.open import open_source

    findings = Findings()
    compare(open_source(f"file://{url}"), folder, findings)
    return findings.sentences


def main() -> None:
    if sys.argv[1] == "write":
        write_plain(town(), Path(sys.argv[2]) / "town", "csv")
        write_chunked(shop(), Path(sys.argv[2]) / "shop", "parquet", 3)
        return
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, url, saved in cases(Path(scratch)):
            for parts, method in ((1, "metis"), (2, "metis"), (4, "metis"), (3, "random")):
                with tempfile.TemporaryDirectory() as folder:
                    partitioned(url, parts, folder, DGLJOB_PART_METHOD=method)
                    found[f"{name} {parts} {method}"] = problems(url, folder) + problems(saved, folder)
        partitioned(url, int(os.environ["DGLJOB_NUM_PARTS"]), os.environ["DGLJOB_PARTS_DIR"])
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Runs in a pod with DGL: makes parts in every way, and compares what DGL loads of them with the graph.

Its arguments: the program dglrun. A line for every comparison; it ends with an error at the first that fails.
At last it leaves parts of the digits where the job wants its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DGLRUN = sys.argv[1]
sys.path.insert(0, DGLRUN)

import dgl  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from dgl.data.utils import load_tensors  # noqa: E402
from dglrun.assemble.chunked import write_chunked  # noqa: E402
from dglrun.assemble.source import GraphSource  # noqa: E402

RANDOM = np.random.default_rng(7)


def ends(*ranges: int, count: int) -> tuple[Any, Any]:
    first, second = (torch.tensor(RANDOM.integers(0, most, count)) for most in ranges)
    return first, second


def homogeneous() -> Any:
    """Directed, with parallel edges and loops; ten nodes without edges."""
    graph = dgl.graph(ends(390, 390, count=4000), num_nodes=400)
    graph.ndata["feat"] = torch.rand(400, 5)
    graph.ndata["train_mask"] = torch.rand(400) < 0.3
    graph.edata["weight"] = torch.rand(4000, 2, dtype=torch.float64)
    graph.edata["seen"] = torch.rand(4000) < 0.5
    return graph


def heterogeneous() -> Any:
    """Three edge types and two node types of very different size, one with three nodes only."""
    graph = dgl.heterograph(
        {
            ("person", "knows", "person"): ends(200, 200, count=900),
            ("person", "wrote", "paper"): ends(200, 3, count=300),
            ("paper", "cites", "paper"): ends(3, 3, count=7),
        },
        num_nodes_dict={"person": 220, "paper": 3},
    )
    graph.nodes["person"].data["feat"] = torch.rand(220, 2, 2)
    graph.nodes["paper"].data["mask"] = torch.rand(3) < 0.5
    graph.edges["wrote"].data["weight"] = torch.rand(300)
    return graph


class Parts:
    """What DGL loads of parts, and which node and edge of the graph each of theirs is."""

    def __init__(self, graph: Any, configs: list[Path]) -> None:
        self.graph, self.count = graph, len(configs)
        self.ntypes = graph.ntypes
        self.etypes = graph.canonical_etypes
        self.config = json.loads(configs[0].read_text())
        assert list(self.config["ntypes"]) == self.ntypes
        assert list(self.config["etypes"]) == [":".join(each) for each in self.etypes]
        self.loaded = [dgl.distributed.load_partition(str(path), n) for n, path in enumerate(configs)]
        homes = [path.parent / f"part{n}" for n, path in enumerate(configs)]
        self.nodes = self._original("node_map", self.ntypes, homes, "orig_nids.dgl")
        names = [":".join(each) for each in self.etypes]
        self.edges = self._original("edge_map", names, homes, "orig_eids.dgl")

    def _original(self, key: str, names: list[str], homes: list[Path], file: str) -> Any:
        """(type, id in the graph) of each new id."""
        total = max(last for ranges in self.config[key].values() for _, last in ranges)
        found = np.full((total, 2), -1)
        for part, home in enumerate(homes):
            original = load_tensors(str(home / file))
            for kind, name in enumerate(names):
                first, last = self.config[key][name][part]
                found[first:last, 0], found[first:last, 1] = kind, original[name].numpy()
        count = self.graph.num_nodes if key == "node_map" else self.graph.num_edges
        wanted = [(kind, each) for kind, name in enumerate(names) for each in range(count(_type(name)))]
        assert sorted(map(tuple, found.tolist())) == wanted, f"{key}: not every one is there once"
        return found

    def check(self) -> None:
        for part in range(self.count):
            self._check_part(part)

    def _check_part(self, part: int) -> None:
        local, node_feats, edge_feats = self.loaded[part][:3]
        source, target = (each.numpy() for each in local.edges(order="eid"))
        nodes, edges = local.ndata[dgl.NID].numpy(), local.edata[dgl.EID].numpy()
        own, inner = local.ndata["inner_node"].bool().numpy(), local.edata["inner_edge"].bool().numpy()
        assert own[target[inner]].all()
        assert own[source[~inner]].all()
        assert not own[target[~inner]].any()
        if not self.graph.is_homogeneous:
            assert (local.ndata[dgl.NTYPE].numpy() == self.nodes[nodes, 0]).all()
            assert (local.edata[dgl.ETYPE].numpy() == self.edges[edges, 0]).all()
        concerned = 0
        for kind, etype in enumerate(self.etypes):
            first, last = (each.numpy() for each in self.graph.edges(etype=etype, order="eid"))
            mine = self.edges[edges, 0] == kind
            wanted = self.edges[edges[mine], 1]
            for end, whole, ntype in ((source, first, etype[0]), (target, last, etype[2])):
                of = self.nodes[nodes[end[mine]]]
                assert (of[:, 0] == self.ntypes.index(ntype)).all()
                assert (of[:, 1] == whole[wanted]).all(), f"edges of {etype} end elsewhere"
            kept = self._own(part, etype[0])[first] | self._own(part, etype[2])[last]
            concerned += int(kept.sum())
        assert concerned == len(edges), "edges of own nodes are missing or too many"
        self._check_features(part, node_feats, edge_feats)

    def _own(self, part: int, ntype: str) -> Any:
        found = np.zeros(self.graph.num_nodes(ntype), bool)
        found[self.nodes[slice(*self.config["node_map"][ntype][part]), 1]] = True
        return found

    def _check_features(self, part: int, node_feats: Any, edge_feats: Any) -> None:
        seen = 0
        for ntype in self.ntypes:
            of = self.nodes[slice(*self.config["node_map"][ntype][part]), 1]
            for name, rows in self.graph.nodes[ntype].data.items():
                assert (node_feats[f"{ntype}/{name}"].numpy() == rows.numpy()[of]).all(), (ntype, name)
                seen += 1
        for etype in self.etypes:
            text = ":".join(etype)
            of = self.edges[slice(*self.config["edge_map"][text][part]), 1]
            for name, rows in self.graph.edges[etype].data.items():
                assert (edge_feats[f"{text}/{name}"].numpy() == rows.numpy()[of]).all(), (etype, name)
                seen += 1
        assert seen == len(node_feats) + len(edge_feats), (
            "there are features of which the graph knows nothing"
        )


def _type(name: str) -> Any:
    return tuple(name.split(":")) if ":" in name else name


def in_one_pod(data: Path, parts: int, processes: int, method: str) -> list[Path]:
    """The config of the parts, once a part."""
    folder = tempfile.mkdtemp()
    settings = {
        "DGLJOB_PARTS_DIR": folder,
        "DGLJOB_NUM_PARTS": str(parts),
        "DGLJOB_PARTITION_PROCESSES": str(processes),
        "DGLJOB_PART_METHOD": method,
        "DGLJOB_DATASET_URL": f"file://{data}",
    }
    subprocess.run([sys.executable, DGLRUN, "partition-parallel"], env=os.environ | settings, check=True)
    return [Path(folder) / "graph.json"] * parts


def in_pods(data: Path, workers: int, method: str) -> list[Path]:
    """The config of each Worker, in a folder with its own part only."""
    folders = [Path(tempfile.mkdtemp()) for _ in range(workers)]
    running = []
    for index, folder in enumerate(folders):
        settings = {
            "DGLJOB_PARTS_DIR": str(folder),
            "DGLJOB_NUM_PARTS": str(workers),
            "DGLJOB_NUM_WORKERS": str(workers),
            "DGLJOB_REPLICA_INDEX": str(index),
            "DGLJOB_POD_NAME": f"pod-{index}",
            "DGLJOB_POD_IP": f"127.0.0.{index + 1}",
            "DGLJOB_RENDEZVOUS_HOST": "127.0.0.1",
            "DGLJOB_TERMINATION_LOG": str(folder / "words"),
            "DGLJOB_PART_METHOD": method,
            "DGLJOB_DATASET_URL": f"file://{data}",
        }
        running.append(subprocess.Popen([sys.executable, DGLRUN, "assemble"], env=os.environ | settings))
    assert [each.wait() for each in running] == [0] * workers
    assert len({(folder / "words").read_text() for folder in folders}) == 1, "manifests differ"
    assert [sorted(path.name for path in folder.glob("part*")) for folder in folders] == [
        [f"part{index}"] for index in range(workers)
    ]
    return [folder / "graph.json" for folder in folders]


def main() -> None:
    os.environ["DGL_DIST_DEBUG"] = "1"  # DGL itself checks its ranges when it loads a part
    for make in (homogeneous, heterogeneous):
        graph, data = make(), Path(tempfile.mkdtemp())
        write_chunked(GraphSource(graph, "graph"), str(data))
        for parts, processes, method in (
            (1, 1, "random"),
            (2, 2, "metis"),
            (3, 2, "parallel"),
            (4, 3, "random"),
        ):
            Parts(graph, in_one_pod(data, parts, processes, method)).check()
            print(f"same: {make.__name__}, {parts} parts by {processes} processes, {method}", flush=True)
        for workers, method in ((2, "parallel"), (3, "random")):
            Parts(graph, in_pods(data, workers, method)).check()
            print(f"same: {make.__name__}, {workers} Workers, {method}", flush=True)
    settings = {"DGLJOB_DATASET_NAME": "digits", "DGLJOB_PARTITION_PROCESSES": "2"}
    subprocess.run([sys.executable, DGLRUN, "partition-parallel"], env=os.environ | settings, check=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Graphs that need no network: real digits as neighbours, a synthetic one of any size, a saved file."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import unquote, urlsplit

from . import contract
from .ending import config_refusal
from .stats import leave_stats, peak_bytes, read_stats, stats_text

if TYPE_CHECKING:
    from .env import Env

__all__ = ("digits", "partition_dataset", "saved", "synthetic", "write_parts")


def digits(neighbours: int = 10, seed: int = 0) -> Any:
    """scikit-learn's 1797 handwritten digits, each tied to its nearest; a tenth of them is for training."""
    import dgl  # noqa: PLC0415
    import numpy  # noqa: PLC0415, ICN001
    import torch  # noqa: PLC0415
    from sklearn.datasets import load_digits  # noqa: PLC0415
    from sklearn.neighbors import kneighbors_graph  # noqa: PLC0415

    data = load_digits()
    near = kneighbors_graph(data.data, neighbours).tocoo()
    ends = torch.tensor(near.row).long(), torch.tensor(near.col).long()
    graph = dgl.to_bidirected(dgl.graph(ends, num_nodes=len(data.target)))
    graph.ndata["feat"] = torch.tensor(data.data / 16.0, dtype=torch.float32)
    graph.ndata["label"] = torch.tensor(data.target).long()
    return _split(graph, numpy.random.default_rng(seed), train=0.1, validate=0.2)


def synthetic(nodes: int = 2000, classes: int = 4, degree: int = 10, seed: int = 0) -> Any:
    """A planted partition: four fifths of the edges stay in a class, features hint at it weakly."""
    import dgl  # noqa: PLC0415
    import numpy  # noqa: PLC0415, ICN001
    import torch  # noqa: PLC0415

    random = numpy.random.default_rng(seed)
    label = random.integers(0, classes, nodes)
    by_class = numpy.argsort(label, kind="stable")
    first = numpy.searchsorted(label[by_class], numpy.arange(classes))
    count = numpy.bincount(label, minlength=classes)
    source = numpy.repeat(numpy.arange(nodes), degree)
    place = (random.random(nodes * degree) * count[label[source]]).astype(numpy.int64)
    near = by_class[first[label[source]] + place]
    target = numpy.where(random.random(nodes * degree) < 0.8, near, random.integers(0, nodes, nodes * degree))
    graph = dgl.graph((torch.tensor(source), torch.tensor(target)), num_nodes=nodes)
    # METIS of dgl 1.1.3 corrupts its heap on parallel edges
    graph = dgl.to_bidirected(dgl.to_simple(dgl.remove_self_loop(graph)))
    feat = random.normal(size=(nodes, 16)).astype("float32")
    feat[numpy.arange(nodes), label] += 1.0
    graph.ndata["feat"] = torch.tensor(feat)
    graph.ndata["label"] = torch.tensor(label)
    return _split(graph, random, train=0.6, validate=0.2)


def saved(url: str) -> Any:
    """The first graph of a file that dgl.save_graphs wrote. Raises Refusal (ConfigInvalid)."""
    parts = urlsplit(url)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise config_refusal(
            "%s=%s: the built-in partition reads file:///…, give the Partitioner a command for other places"
            % (contract.ENV_DATASET_URL, parts.scheme + "://…")
        )
    path = unquote(parts.path)
    if not os.path.isfile(path):
        raise config_refusal("the dataset %s does not exist in the Partitioner's pod" % path)
    import dgl  # noqa: PLC0415

    graph = dgl.load_graphs(path)[0][0]
    return dgl.to_simple(graph, copy_edata=True) if graph.is_multigraph else graph


def write_parts(
    graph: Any, name: str, parts: int, folder: str, method: str = "metis", *, began: Optional[float] = None
) -> None:
    """Partition `graph` in DGL's format into `folder`, and leave beside it what that took.

    `began`: when this process set out to make or read the graph, on time.monotonic's clock; else now.
    """
    import dgl  # noqa: PLC0415

    started = time.monotonic() if began is None else began
    train = graph.ndata.get("train_mask")
    dgl.distributed.partition_graph(
        graph, name, parts, folder, part_method=method, balance_ntypes=train, balance_edges=True
    )
    seconds, peak = time.monotonic() - started, peak_bytes()
    cut = sum(_cut_edges(dgl, folder, part) for part in range(parts))
    leave_stats(folder, edge_cut=cut, seconds=seconds, peak=peak)
    print(stats_text(read_stats(folder)), flush=True)


def partition_dataset(env: Env) -> None:
    """What `partition` runs where the user gave no command. Raises Refusal (ConfigInvalid)."""
    began = time.monotonic()
    name, url = env.maybe(contract.ENV_DATASET_NAME), env.maybe(contract.ENV_DATASET_URL)
    if url is not None:
        graph = saved(url)
        name = name or os.path.splitext(os.path.basename(urlsplit(url).path))[0]
    elif name == "digits":
        graph = digits()
    elif name == "synthetic":
        graph = synthetic(env.integer(contract.ENV_DATASET_NODES, 2000, least=10))
    else:
        raise config_refusal(
            "%s=%s: the built-in partition knows digits and synthetic" % (contract.ENV_DATASET_NAME, name)
        )
    write_parts(
        graph,
        env.text(contract.ENV_GRAPH_NAME, name),
        env.integer(contract.ENV_NUM_PARTS, least=1),
        env.text(contract.ENV_PARTS_DIR),
        env.text(contract.ENV_PART_METHOD, "metis"),
        began=began,
    )


def _split(graph: Any, random: Any, *, train: float, validate: float) -> Any:
    import torch  # noqa: PLC0415

    lot = random.random(graph.num_nodes())
    graph.ndata["train_mask"] = torch.tensor(lot < train)
    graph.ndata["val_mask"] = torch.tensor((lot >= train) & (lot < train + validate))
    graph.ndata["test_mask"] = torch.tensor(lot >= train + validate)
    return graph


def _cut_edges(dgl: Any, folder: str, part: int) -> int:
    graph = dgl.load_graphs(os.path.join(folder, "part%d" % part, "graph.dgl"))[0][0]
    source, _ = graph.edges()
    inner_edge, inner_node = graph.edata["inner_edge"].bool(), graph.ndata["inner_node"].bool()
    return int((inner_edge & ~inner_node[source]).sum())

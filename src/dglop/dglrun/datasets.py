# SPDX-License-Identifier: Apache-2.0
"""Graphs that need no network: real digits as neighbours, a synthetic one of any size."""

from __future__ import annotations

from typing import Any

__all__ = ("digits", "synthetic")


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
    graph = dgl.to_bidirected(dgl.to_simple(dgl.remove_self_loop(graph)))
    feat = random.normal(size=(nodes, 16)).astype("float32")
    feat[numpy.arange(nodes), label] += 1.0
    graph.ndata["feat"] = torch.tensor(feat)
    graph.ndata["label"] = torch.tensor(label)
    return _split(graph, random, train=0.6, validate=0.2)


def _split(graph: Any, random: Any, *, train: float, validate: float) -> Any:
    import torch  # noqa: PLC0415

    lot = random.random(graph.num_nodes())
    graph.ndata["train_mask"] = torch.tensor(lot < train)
    graph.ndata["val_mask"] = torch.tensor((lot >= train) & (lot < train + validate))
    graph.ndata["test_mask"] = torch.tensor(lot >= train + validate)
    return graph

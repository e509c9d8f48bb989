# SPDX-License-Identifier: Apache-2.0
"""A graph as files of NumPy with DGL's chunked-graph `metadata.json`: written from memory, read by shares."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Tuple, Union

from ..ending import config_refusal
from .source import Schema, etype_text

if TYPE_CHECKING:
    from .mesh import Array
    from .source import Etype, Source

__all__ = ("METADATA", "ChunkedSource", "write_chunked")

METADATA = "metadata.json"
_FORMAT = {"name": "numpy"}


class ChunkedSource:
    """Reads a share by mapping the files into memory: pages that are not asked for are never read."""

    def __init__(self, folder: str) -> None:
        """Raises Refusal (ConfigInvalid) for what is no such folder."""
        self._folder = folder
        data = self._metadata()
        try:
            self._edges = {_etype(name): entry for name, entry in data["edges"].items()}
            self._features = dict(_features(data))
            nodes = zip(data["node_type"], map(sum, data["num_nodes_per_chunk"]))
            edges = zip(map(_etype, data["edge_type"]), map(sum, data["num_edges_per_chunk"]))
            self.schema: Schema = Schema(
                graph=str(data["graph_name"]),
                ntypes=dict(nodes),
                etypes=dict(edges),
                features={key: self._form(entry) for key, entry in self._features.items()},
            )
        except (KeyError, TypeError, ValueError, OSError) as error:
            sentence = "%s in %s does not describe a graph in NumPy files: %r"
            raise config_refusal(sentence % (METADATA, folder, error)) from error

    def edges(self, etype: Etype, lo: int, hi: int) -> Tuple[Array, Array]:
        """Sources and destinations of the edges lo to hi-1."""
        rows = self._rows(self._edges[etype], lo, hi)
        return rows[:, 0], rows[:, 1]

    def node_data(self, ntype: str, name: str, lo: int, hi: int) -> Array:
        return self._rows(self._features[(ntype, name)], lo, hi)

    def edge_data(self, etype: Etype, name: str, lo: int, hi: int) -> Array:
        return self._rows(self._features[(etype, name)], lo, hi)

    def _metadata(self) -> Dict[str, Any]:
        path = os.path.join(self._folder, METADATA)
        try:
            with open(path, encoding="utf-8") as file:
                return dict(json.load(file))
        except (OSError, ValueError) as error:
            raise config_refusal(
                "the dataset needs a %s in %s: %s" % (METADATA, self._folder, error)
            ) from error

    def _form(self, entry: Mapping[str, Any]) -> Tuple[Any, Tuple[int, ...]]:
        array = self._map(entry["data"][0])
        return array.dtype, array.shape[1:]

    def _map(self, name: str) -> Array:
        import numpy as np  # noqa: PLC0415

        return np.load(os.path.join(self._folder, name), mmap_mode="r", allow_pickle=False)

    def _rows(self, entry: Mapping[str, Any], lo: int, hi: int) -> Array:
        import numpy as np  # noqa: PLC0415

        found: List[Array] = []
        begin = 0
        for name in entry["data"]:
            array = self._map(name)
            first, last = max(lo - begin, 0), min(hi - begin, len(array))
            if first < last or not found:
                found.append(np.array(array[first : max(first, last)]))
            begin += len(array)
        return np.concatenate(found)


def write_chunked(source: Source, folder: str) -> None:
    """One chunk a type. Raises OSError."""
    import numpy as np  # noqa: PLC0415

    schema = source.schema
    files = 0

    def saved(array: Array) -> Dict[str, Any]:
        nonlocal files
        name, files = "%d.npy" % files, files + 1
        np.save(os.path.join(folder, name), array, allow_pickle=False)
        return {"format": _FORMAT, "data": [name]}

    node_data: Dict[str, Dict[str, Any]] = {}
    edge_data: Dict[str, Dict[str, Any]] = {}
    for kind, name in schema.features:
        if isinstance(kind, str):
            rows = source.node_data(kind, name, 0, schema.ntypes[kind])
            node_data.setdefault(kind, {})[name] = saved(rows)
        else:
            rows = source.edge_data(kind, name, 0, schema.etypes[kind])
            edge_data.setdefault(etype_text(kind), {})[name] = saved(rows)
    edges = {
        etype_text(etype): saved(np.stack(source.edges(etype, 0, count), axis=1))
        for etype, count in schema.etypes.items()
    }
    metadata: Dict[str, Any] = {
        "graph_name": schema.graph,
        "node_type": list(schema.ntypes),
        "num_nodes_per_chunk": [[count] for count in schema.ntypes.values()],
        "edge_type": [etype_text(etype) for etype in schema.etypes],
        "num_edges_per_chunk": [[count] for count in schema.etypes.values()],
        "edges": edges,
        "node_data": node_data,
        "edge_data": edge_data,
    }
    with open(os.path.join(folder, METADATA), "w", encoding="utf-8") as file:
        json.dump(metadata, file)


def _features(data: Mapping[str, Any]) -> Iterator[Tuple[Tuple[Union[str, Etype], str], Mapping[str, Any]]]:
    for ntype, of in data.get("node_data", {}).items():
        yield from (((ntype, name), entry) for name, entry in of.items())
    for etype, of in data.get("edge_data", {}).items():
        yield from (((_etype(etype), name), entry) for name, entry in of.items())


def _etype(name: str) -> Etype:
    first, second, third = name.split(":")
    return first, second, third

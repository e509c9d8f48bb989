# SPDX-License-Identifier: Apache-2.0
"""A graph that can only be had whole, copied once into files of which every process reads its share."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, Optional

from .. import contract
from ..inputs.dataset import open_dataset
from ..inputs.metadata import METADATA, open_described
from ..inputs.open import format_of, path_of
from ..inputs.source import etype_text

if TYPE_CHECKING:
    from ..env import Env
    from ..inputs.source import Array, Source
    from .mesh import Mesh

__all__ = ("open_spread", "write_chunked")

_FORMAT = {"name": "numpy"}


def open_spread(env: Env, mesh: Mesh, scratch: Optional[str]) -> Source:
    """The job's dataset, for all processes. Raises Refusal (ConfigInvalid).

    `scratch` is a folder that they share, None where they share none. What can only be had whole is had by
    one process then, which leaves it there for all; without such a folder a file like that is refused, and
    each process makes a built-in graph by itself.
    """
    if scratch is None:
        return open_dataset(env, mesh, shares=True)
    if not _is_whole(env):
        return open_dataset(env, mesh)
    if mesh.rank == 0:
        write_chunked(open_dataset(env), scratch)
    mesh.share(None)
    return open_described(scratch, None, mesh)


def _is_whole(env: Env) -> bool:
    url = env.maybe(contract.ENV_DATASET_URL)
    return url is None or (env.maybe(contract.ENV_DATASET_FORMAT) or format_of(path_of(url))) == "dgl"


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

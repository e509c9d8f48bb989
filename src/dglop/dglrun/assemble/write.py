# SPDX-License-Identifier: Apache-2.0
"""Parts as files, in the format of dgl.distributed.partition_graph of DGL 1.1.3."""

from __future__ import annotations

import errno
import json
import os
import shutil
from typing import TYPE_CHECKING, Any, Dict, List, Tuple, Union

from ..inputs.source import etype_text
from .build import ORIGINAL

if TYPE_CHECKING:
    from ..inputs.source import Array
    from .build import Built
    from .part import Part
    from .plan import Plan

__all__ = ("config_name", "part_files", "write_config", "write_part")

_SPARE_BYTES = 1 << 20  # with less room than that it is the room that is lacking


def part_files(part: int) -> Dict[str, str]:
    """A part's files as the config names them. Those of original ids are ours, DGL does not look at them."""
    names = ("node_feat", "edge_feat", "graph", "orig_nids", "orig_eids")
    paths = ["part%d/%s.dgl" % (part, name) for name in names]
    return dict(zip(("node_feats", "edge_feats", "part_graph", "orig_nids", "orig_eids"), paths))


def config_name(plan: Plan) -> str:
    return plan.source.schema.graph + ".json"


def write_config(plan: Plan, built: Built, method: str, folder: str) -> None:
    """`<graph>.json`; written whole or not at all. Raises OSError."""
    ntypes, etypes = plan.ntypes, [etype_text(etype) for etype in plan.etypes]
    config: Dict[str, Any] = {
        "graph_name": plan.source.schema.graph,
        "num_nodes": plan.nodes.total,
        "num_edges": plan.edges.total,
        "part_method": method,
        "num_parts": plan.num_parts,
        "halo_hops": 1,
        "node_map": built.nodes.ranges(ntypes),
        "edge_map": built.edges.ranges(etypes),
        "ntypes": {name: number for number, name in enumerate(ntypes)},
        "etypes": {name: number for number, name in enumerate(etypes)},
    }
    for part in range(plan.num_parts):
        config["part-%d" % part] = part_files(part)
    path = os.path.join(folder, config_name(plan))
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(config, file, indent=4)
    os.replace(path + ".tmp", path)


def write_part(plan: Plan, part: Part, folder: str) -> None:
    """The folder `part<i>`. Raises OSError, also where DGL itself says that it cannot write."""
    import dgl  # noqa: PLC0415
    from dgl.data.utils import save_tensors  # noqa: PLC0415

    paths = {key: os.path.join(folder, path) for key, path in part_files(part.number).items()}
    os.makedirs(os.path.dirname(paths["part_graph"]), exist_ok=True)
    ntypes: List[str] = plan.ntypes
    etypes = [etype_text(etype) for etype in plan.etypes]
    try:
        for kind, names in (("node", ntypes), ("edge", etypes)):
            features, original = _tensors(part, kind, names)
            save_tensors(paths[kind + "_feats"], features)
            save_tensors(paths["orig_%sids" % kind[0]], original)
        dgl.save_graphs(paths["part_graph"], [_graph(plan, part)])
    except dgl.DGLError as error:
        full = shutil.disk_usage(folder).free < _SPARE_BYTES
        raise OSError(errno.ENOSPC if full else errno.EIO, str(error)) from error


def _tensors(part: Part, kind: str, names: List[str]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    features: Dict[str, Any] = {}
    original: Dict[str, Any] = {}
    for (of, index, name), rows in part.rows.items():
        if of == kind and name == ORIGINAL:
            original[names[index]] = _tensor(rows)
        elif of == kind:
            features["%s/%s" % (names[index], name)] = _tensor(rows)
    return features, original


def _graph(plan: Plan, part: Part) -> Any:
    import dgl  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    nodes, edges, source, target = part.local()
    graph = dgl.graph((_tensor(source), _tensor(target)), num_nodes=len(nodes), idtype=_int64())
    graph.ndata[dgl.NID], graph.edata[dgl.EID] = _tensor(nodes), _tensor(edges)
    own_nodes, own_edges = part.end_node - part.first_node, part.end_edge - part.first_edge
    graph.ndata["inner_node"] = _tensor((np.arange(len(nodes)) < own_nodes).astype(np.uint8))
    graph.edata["inner_edge"] = _tensor((np.arange(len(edges)) < own_edges).astype(np.uint8))
    if not plan.is_homogeneous:
        graph.ndata[dgl.NTYPE] = _tensor(part.nodes.type_of(nodes).astype(np.int32))
        graph.edata[dgl.ETYPE] = _tensor(part.edges.type_of(edges).astype(np.int32))
    return graph


def _int64() -> Any:
    import torch  # noqa: PLC0415

    return torch.int64


def _tensor(array: Union[Array, Any]) -> Any:
    import torch  # noqa: PLC0415

    return torch.from_numpy(array)

# SPDX-License-Identifier: Apache-2.0
"""Parts made by one process that holds the whole graph, written by DGL itself."""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional

from . import contract
from .assign import assign_nodes
from .ending import config_refusal
from .stats import leave_stats, peak_bytes, read_stats, stats_text

if TYPE_CHECKING:
    from .env import Env

__all__ = ("partition_dataset", "write_parts")


def partition_dataset(env: Env) -> None:
    """What `partition` runs where the user gave no command. Raises Refusal (ConfigInvalid)."""
    from .inputs.dataset import open_dataset  # noqa: PLC0415

    began = time.monotonic()
    source = open_dataset(env)
    write_parts(
        source.to_graph(),
        source.schema.graph,
        env.integer(contract.ENV_NUM_PARTS, least=1),
        env.text(contract.ENV_PARTS_DIR),
        env.text(contract.ENV_PART_METHOD, "metis"),
        balance_ntypes=env.maybe(contract.ENV_BALANCE_NTYPES),
        balance_edges=env.integer(contract.ENV_BALANCE_EDGES, 1) != 0,
        began=began,
    )


def write_parts(
    graph: Any,
    name: str,
    parts: int,
    folder: str,
    method: str = "metis",
    *,
    balance_ntypes: Optional[str] = None,
    balance_edges: bool = True,
    began: Optional[float] = None,
) -> None:
    """Partition a DGLGraph in DGL's format into `folder`, and leave beside it what that took.

    No edge is lost, parallel ones are kept. Each part gets two files more than DGL makes: orig_nids and
    orig_eids, the ids that its own nodes and edges have in `graph`. `began`: when this process set out to
    have the graph, on time.monotonic's clock; else now. Raises Refusal (ConfigInvalid).
    """
    started = time.monotonic() if began is None else began
    graph = graph.long()
    found = assign_nodes(graph, parts, method, ntypes=balance_ntypes, edges=balance_edges)
    cut = _check_parts(graph, found, parts)
    original = _write(graph, name, parts, folder, found)
    _add_original_ids(os.path.join(folder, name + ".json"), method, *original)
    leave_stats(folder, edge_cut=cut, seconds=time.monotonic() - started, peak=peak_bytes())
    print(stats_text(read_stats(folder)), flush=True)


def _check_parts(graph: Any, found: Any, parts: int) -> int:
    """The number of cut edges. Raises Refusal where a part would have none of a type: DGL cannot write it."""
    import torch  # noqa: PLC0415

    cut, begin, of_type = 0, 0, {}
    for ntype in graph.ntypes:
        of_type[ntype] = found[begin : begin + graph.num_nodes(ntype)]
        begin += graph.num_nodes(ntype)
        _check_type("nodes of type " + ntype, torch.bincount(of_type[ntype], minlength=parts), parts)
    for etype in graph.canonical_etypes:
        source, target = graph.edges(etype=etype)
        ends = of_type[etype[2]][target]
        _check_type("edges " + ":".join(etype), torch.bincount(ends, minlength=parts), parts)
        cut += int((of_type[etype[0]][source] != ends).sum())
    return cut


def _check_type(what: str, counts: Any, parts: int) -> None:
    if int(counts.min()) == 0:
        raise config_refusal(
            "part %d of %d would have no %s (there are %d), and DGL cannot write such a part: use fewer "
            "parts, or partitionMode SMP" % (int(counts.argmin()), parts, what, int(counts.sum()))
        )


def _write(graph: Any, name: str, parts: int, folder: str, found: Any) -> Any:
    """Let DGL write; its maps from new ids to those of `graph`, by type."""
    import dgl  # noqa: PLC0415

    with _already_assigned(dgl.distributed.partition, found):
        nodes, edges = dgl.distributed.partition_graph(
            graph, name, parts, folder, part_method="metis", return_mapping=True
        )
    if graph.is_homogeneous:
        nodes, edges = {graph.ntypes[0]: nodes}, {graph.canonical_etypes[0]: edges}
    return nodes, {":".join(etype): ids for etype, ids in edges.items()}


@contextlib.contextmanager
def _already_assigned(module: Any, found: Any) -> Iterator[None]:
    """partition_graph takes no assignment from outside, so it gets ours where it asks METIS for one."""
    asked = module.metis_partition_assignment
    module.metis_partition_assignment = lambda *_, **__: found
    try:
        yield
    finally:
        module.metis_partition_assignment = asked


def _add_original_ids(path: str, method: str, nodes: Dict[str, Any], edges: Dict[str, Any]) -> None:
    from dgl.data.utils import save_tensors  # noqa: PLC0415

    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    config["part_method"] = method
    for key, maps, original in (("orig_nids", "node_map", nodes), ("orig_eids", "edge_map", edges)):
        begins = dict.fromkeys(original, 0)
        for part in range(config["num_parts"]):
            own = {}
            for kind, ids in original.items():
                first, last = config[maps][kind][part]
                # a copy, as a view would be saved with all that it is a view of
                own[kind] = ids[begins[kind] : begins[kind] + last - first].clone()
                begins[kind] += last - first
            files = config["part-%d" % part]
            files[key] = "part%d/%s.dgl" % (part, key)
            save_tensors(os.path.join(os.path.dirname(path), files[key]), own)
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(config, file, indent=4)
    os.replace(path + ".tmp", path)

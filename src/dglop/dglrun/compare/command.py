# SPDX-License-Identifier: Apache-2.0
"""`verify-parts`: all parts beside the dataset that they were made of, and one line of what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List

from .. import contract
from ..inputs.dataset import open_dataset
from ..inputs.source import etype_text
from ..layout import LayoutError
from .crossing import Crossing
from .disk import Disk
from .findings import Findings
from .originals import Originals
from .part import PartCheck

if TYPE_CHECKING:
    from ..env import Env
    from ..inputs.source import Array, Source

__all__ = ("compare", "verify_parts")


def verify_parts(env: Env) -> int:
    """Print one line of JSON: `equal`, and `problems` in sentences; 0 where they are equal, else 1.

    It has one part in memory at a time, and eight bytes for each node of the graph. Raises Refusal.
    """
    source = open_dataset(env)
    findings = Findings()
    seen = compare(source, env.text(contract.ENV_PARTS_DIR), findings)
    words = {"equal": findings.count == 0, "graph": source.schema.graph, **seen}
    if findings.count:
        words.update(problems=findings.sentences, problemCount=findings.count)
    print(json.dumps(words), flush=True)
    return 0 if findings.count == 0 else 1


def compare(source: Source, folder: str, findings: Findings) -> Dict[str, int]:
    """What was compared; `findings` gets what is not as it must be."""
    schema = source.schema
    seen = {
        "parts": 0,
        "nodes": sum(schema.ntypes.values()),
        "edges": sum(schema.etypes.values()),
        "features": len(schema.features),
    }
    try:
        disk = Disk(folder)
        seen["parts"] = disk.parts
        if _fit(source, disk, findings):
            _compare_parts(source, disk, findings)
    except LayoutError as error:
        findings.add(str(error))
    return seen


def _fit(source: Source, disk: Disk, findings: Findings) -> bool:
    edges = {etype_text(etype): count for etype, count in source.schema.etypes.items()}
    fine: List[Any] = [
        disk.nodes.check(findings, "node", source.schema.ntypes),
        disk.edges.check(findings, "edge", edges),
        findings.check(disk.hops == 1, "halo_hops is %d, only 1 can be compared" % disk.hops),
    ]
    totals = [sum(source.schema.ntypes.values()), sum(edges.values())]
    findings.check(
        disk.totals() == totals, "num_nodes and num_edges are %s, not %s" % (disk.totals(), totals)
    )
    return all(fine)


def _compare_parts(source: Source, disk: Disk, findings: Findings) -> None:
    import numpy as np  # noqa: PLC0415

    nodes, edges = (
        Originals(disk, disk.nodes, "orig_nids", findings),
        Originals(disk, disk.edges, "orig_eids", findings),
    )
    original: Array = np.concatenate([nodes.of_part(part) for part in range(disk.parts)])
    nodes.end()
    crossing, compared = Crossing(disk.parts), []
    for part in range(disk.parts):
        check = PartCheck(source, disk, findings, part, (original, edges.of_part(part)))
        compared.append(check.graph(crossing))
        check.features()
    edges.end()
    if all(compared):
        crossing.end(findings)

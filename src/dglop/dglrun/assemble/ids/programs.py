# SPDX-License-Identifier: Apache-2.0
"""Partitioners that are programs of their own under mpirun: `ptscotch` (dgpart) and `pm_dglpart` (ParMETIS).

Both run in the pod of all processes, on files in their scratch folder of which each process writes its share.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Dict, List, Optional

from ...contract import EXIT_CONFIG
from ...ending import Refusal
from .edges import neighbours

if TYPE_CHECKING:
    from ...inputs.source import Array
    from ..plan import Plan

__all__ = ("by_program",)

_NAME = "graph"
# what Open MPI wants where there are no ssh, no more slots than CPUs, and one user: a container
_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def by_program(plan: Plan, program: str, groups: Array) -> Array:
    """The part of each own node. Raises Refusal where the program fails, with its last lines."""
    folder = tempfile.mkdtemp(prefix="dglrun-mpi-") if plan.mesh.rank == 0 else ""
    folder = plan.mesh.share(folder)[0]
    if program == "ptscotch":
        _write_scotch(plan, folder)
        argv = ["dgpart", str(plan.num_parts), _NAME + ("%r.dgr" if plan.mesh.size > 1 else "0.dgr"), "map"]
        processes = plan.mesh.size
    else:
        _write_parmetis(plan, folder, groups)
        processes = max(each for each in range(1, plan.mesh.size + 1) if plan.num_parts % each == 0)
        argv = ["pm_dglpart", _NAME, str(plan.num_parts // processes)]
    plan.mesh.share(None)
    trouble: Optional[str] = None
    if plan.mesh.rank == 0:
        trouble = _run(["mpirun", "-np", str(processes), *argv], folder)
    trouble = plan.mesh.share(trouble)[0]
    if trouble is not None:
        raise Refusal("PartitionInvalid", EXIT_CONFIG, trouble)
    found = _read_scotch(plan, folder) if program == "ptscotch" else _read_parmetis(plan, folder)
    _check(plan, argv[0], found)
    plan.mesh.share(None)
    if plan.mesh.rank == 0:
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    return found


def _run(argv: List[str], folder: str) -> Optional[str]:
    """What went wrong, None: nothing."""
    env: Dict[str, str] = {**_MPI, **os.environ}
    ended = subprocess.run(
        argv,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = ended.stdout.decode("utf-8", "replace").strip()
    if text:
        print(text, flush=True)
    if ended.returncode == 0:
        return None
    return "%s ended with exit code %d: %s" % (" ".join(argv), ended.returncode, text[-300:])


def _check(plan: Plan, program: str, found: Array) -> None:
    wrong = plan.mesh.share(int(((found < 0) | (found >= plan.num_parts)).sum()))
    if any(wrong):
        sentence = "%s gave no part of 0 to %d to %d nodes" % (program, plan.num_parts - 1, sum(wrong))
        raise Refusal("PartitionInvalid", EXIT_CONFIG, sentence)


def _write_scotch(plan: Plan, folder: str) -> None:
    """The own share as a fragment of a distributed graph (version 2), every edge from both its ends."""
    import numpy as np  # noqa: PLC0415

    begins, around = neighbours(plan)
    rows: List[Array] = [
        np.unique(around[begins[node] : begins[node + 1]]) for node in range(len(begins) - 1)
    ]
    arcs = sum(len(row) for row in rows)
    total = sum(plan.mesh.share(arcs))
    with open(os.path.join(folder, "%s%d.dgr" % (_NAME, plan.mesh.rank)), "w", encoding="ascii") as file:
        file.write("2\n%d %d\n%d %d\n" % (plan.mesh.size, plan.mesh.rank, plan.nodes.total, total))
        file.write("%d %d\n0 000\n" % (len(rows), arcs))
        file.writelines(" ".join(map(str, [len(row), *row.tolist()])) + "\n" for row in rows)


def _read_scotch(plan: Plan, folder: str) -> Array:
    import numpy as np  # noqa: PLC0415

    low, high = plan.nodes.of(plan.mesh.rank)
    found = np.full(high - low, -1, np.int64)
    with open(os.path.join(folder, "map"), encoding="ascii") as file:
        next(file)
        for line in file:
            node, part = line.split()
            if low <= int(node) < high:
                found[int(node) - low] = int(part)
    return found


def _write_parmetis(plan: Plan, folder: str, groups: Array) -> None:
    """Three text files, as DGL's guide describes them; the processes append to them one after another."""
    import numpy as np  # noqa: PLC0415

    low, high = plan.nodes.of(plan.mesh.rank)
    types = plan.node_types()
    begins, around = neighbours(plan)
    own = np.repeat(np.arange(low, high), np.diff(begins))
    # each pair once, and no loops: the program takes neither
    pairs = np.unique(np.stack([own, around], axis=1)[own < around], axis=0)
    edges, weights = sum(plan.mesh.share(len(pairs))), plan.mesh.largest(int(groups.max(initial=0)) + 1)
    first = sum(plan.mesh.share(len(pairs))[: plan.mesh.rank])
    for turn in range(plan.mesh.size):
        if turn == plan.mesh.rank:
            with open(os.path.join(folder, _NAME + "_nodes.txt"), "a", encoding="ascii") as file:
                for place, (kind, group) in enumerate(zip(types.tolist(), groups.tolist())):
                    flags = " ".join("1" if each == group else "0" for each in range(weights))
                    file.write("%d %s %d\n" % (kind, flags, low + place - int(plan.nodes.starts[kind])))
            with open(os.path.join(folder, _NAME + "_edges.txt"), "a", encoding="ascii") as file:
                for place, (source, target) in enumerate(pairs.tolist()):
                    file.write("%d %d %d 0\n" % (source, target, first + place))
        plan.mesh.share(None)
    if plan.mesh.rank == 0:
        with open(os.path.join(folder, _NAME + "_stats.txt"), "w", encoding="ascii") as file:
            file.write("%d %d %d\n" % (plan.nodes.total, edges, weights))


def _read_parmetis(plan: Plan, folder: str) -> Array:
    """`p<part>-graph_nodes.txt`: new id, type, weights, id in the type; only the last and the type count."""
    import numpy as np  # noqa: PLC0415

    low, high = plan.nodes.of(plan.mesh.rank)
    found = np.full(high - low, -1, np.int64)
    with open(os.path.join(folder, _NAME + "_stats.txt"), encoding="ascii") as file:
        weights = int(file.read().split()[2])
    for part in range(plan.num_parts):
        path = os.path.join(folder, "p%03d-%s_nodes.txt" % (part, _NAME))
        if not os.path.exists(path):
            path = os.path.join(folder, "p%d-%s_nodes.txt" % (part, _NAME))
        with open(path, encoding="ascii") as file:
            for line in file:
                fields = line.split()
                node = int(plan.nodes.starts[int(fields[1])]) + int(fields[2 + weights])
                if low <= node < high:
                    found[node - low] = part
    return found

# SPDX-License-Identifier: Apache-2.0
"""Runs in a pod with DGL, beside dglrun.pyz, with two arguments: how many edges, how often each way.

Prints lines of JSON: the graph, each run, the end.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DGLRUN = str(Path(__file__).with_name("dglrun.pyz"))
sys.path.insert(0, DGLRUN)

from dglrun.assemble.copied import write_chunked  # noqa: E402
from dglrun.inputs.arrays import ArraysSource  # noqa: E402

PARTS, DEGREE, WIDTH, COMMUNITY = 4, 20, 32, 500
# name, processes (0: DGL in one process, which holds the whole graph), method
WAYS = [
    ("one process, metis", 0, "metis"),
    ("one process, random", 0, "random"),
    ("2 processes, metis", 2, "metis"),
    ("2 processes, parallel", 2, "parallel"),
    ("4 processes, parallel", 4, "parallel"),
    ("4 processes, random", 4, "random"),
]


def graph(edges: int) -> ArraysSource:
    """Communities of some hundred nodes, numbered without any order; nine of ten edges stay inside."""
    random = np.random.default_rng(0)
    nodes = edges // DEGREE
    order = random.permutation(nodes)
    begin = random.integers(0, nodes, edges // 2)
    near = begin // COMMUNITY * COMMUNITY + random.integers(0, COMMUNITY, len(begin))
    inside = random.random(len(begin)) < 0.9
    end = np.where(inside, np.minimum(near, nodes - 1), random.integers(0, nodes, len(begin)))
    source, target = order[begin], order[end]
    etype = ("_N", "_E", "_N")
    both = np.concatenate([source, target]), np.concatenate([target, source])
    feat = random.random((nodes, WIDTH), dtype=np.float32)
    data = {("_N", "feat"): feat, ("_N", "train_mask"): random.random(nodes) < 0.5}
    return ArraysSource("graph", {"_N": nodes}, {etype: both}, data)


def made(data: Path, processes: int, method: str) -> dict[str, float]:
    folder = Path(tempfile.mkdtemp())
    env = {
        **os.environ,
        "DGLBACKEND": "pytorch",
        "DGLJOB_PARTS_DIR": str(folder),
        "DGLJOB_NUM_PARTS": str(PARTS),
        "DGLJOB_PARTITION_PROCESSES": str(processes),
        "DGLJOB_PART_METHOD": method,
        "DGLJOB_DATASET_URL": f"file://{data}",
    }
    command = "partition-parallel" if processes else "partition-dataset"
    began = time.monotonic()
    subprocess.run([sys.executable, DGLRUN, command], env=env, stdout=sys.stderr, check=True)
    wall = time.monotonic() - began
    stats = json.loads((folder / "dglrun-stats.json").read_text())
    shutil.rmtree(folder)
    return {**stats, "seconds": wall}


def say(**words: object) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def main() -> None:
    edges, repeat = int(sys.argv[1]), int(sys.argv[2])
    source, data = graph(edges), Path(tempfile.mkdtemp())
    write_chunked(source, str(data))
    (nodes,), (edges,) = source.schema.ntypes.values(), source.schema.etypes.values()
    say(nodes=nodes, edges=edges, parts=PARTS, width=WIDTH)
    del source
    for _ in range(repeat):
        for way, processes, method in WAYS:
            run = made(data, processes, method)
            say(way=way, cut=run["edgeCut"] / edges, **run)
    say(end=True)


if __name__ == "__main__":
    main()

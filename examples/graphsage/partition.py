# SPDX-License-Identifier: Apache-2.0
"""Partitions a graph for the job: `dglrun.pyz partition -- python3 partition.py --dataset digits`."""

from __future__ import annotations

import argparse
import os

# Your own graph goes here: anything that gives a DGLGraph with train_mask and test_mask.
from dglrun.datasets import digits, synthetic
from dglrun.single import write_parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", choices=("digits", "synthetic"), default="digits")
    parser.add_argument("--nodes", type=int, default=2000, help="size of the synthetic graph")
    parser.add_argument("--method", choices=("metis", "random"), default="metis")
    arguments = parser.parse_args()
    graph = digits() if arguments.dataset == "digits" else synthetic(arguments.nodes)
    parts = int(os.environ["DGLJOB_NUM_PARTS"])
    print(f"{graph.num_nodes()} nodes, {graph.num_edges()} edges, {parts} parts", flush=True)
    write_parts(graph, arguments.dataset, parts, os.environ["DGLJOB_PARTS_DIR"], arguments.method)


if __name__ == "__main__":
    main()

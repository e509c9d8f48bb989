# SPDX-License-Identifier: Apache-2.0
"""Computes pi on all processes of an MPI program; each takes every size-th strip of a quarter circle."""

from __future__ import annotations

import sys

from mpi4py import MPI

STRIPS = 1_000_000


def main() -> int:
    world = MPI.COMM_WORLD
    width = 1.0 / STRIPS
    middles = ((each + 0.5) * width for each in range(world.rank, STRIPS, world.size))
    own = sum(4.0 / (1.0 + x * x) for x in middles) * width
    pi = world.reduce(own, MPI.SUM, 0)
    hosts = world.gather(MPI.Get_processor_name(), 0)
    if pi is not None and hosts is not None:
        print(f"pi is {pi:.9f}, computed by {world.size} processes on {', '.join(sorted(set(hosts)))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

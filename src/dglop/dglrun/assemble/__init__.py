# SPDX-License-Identifier: Apache-2.0
"""Parts of a graph made by several processes, of which none ever holds the whole graph.

Each of P processes reads a P-th of the nodes and edges, all agree on the part of every node, send edges and
features to the process that makes the part where they belong, and write the parts in the format of
dgl.distributed.partition_graph (DGL 1.1.3).
"""

from __future__ import annotations

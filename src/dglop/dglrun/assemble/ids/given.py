# SPDX-License-Identifier: Apache-2.0
"""`given`: the user's own file of parts, one number a node."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, List

from ...ending import config_refusal

if TYPE_CHECKING:
    from ...inputs.source import Array
    from ..plan import Plan

__all__ = ("given",)


def given(plan: Plan, path: str) -> Array:
    """From one file for a graph with one node type, or a folder with `<node type>.txt` or `.npy` for each.

    Line k, or element k, is the part of node k. Each process reads what concerns it. Raises Refusal.
    """
    import numpy as np  # noqa: PLC0415

    if not os.path.exists(path):
        raise config_refusal("the parts of the nodes are to be in %s, which does not exist" % path)
    found: List[Array] = []
    for index, lo, hi in plan.nodes.pieces(plan.mesh.rank):
        name = plan.ntypes[index]
        file, count = _file_of(plan, path, name), plan.source.schema.ntypes[name]
        read = _numpy if file.endswith(".npy") else _text
        found.append(_checked(file, read(file, lo, hi, count), lo, plan.num_parts))
    return np.concatenate(found)


def _file_of(plan: Plan, path: str, ntype: str) -> str:
    if not os.path.isdir(path):
        if len(plan.ntypes) > 1:
            raise config_refusal(
                "%s is one file, the graph has the node types %s: give a folder with a file for each"
                % (path, ", ".join(plan.ntypes))
            )
        return path
    for ending in (".npy", ".txt"):
        if os.path.isfile(os.path.join(path, ntype + ending)):
            return os.path.join(path, ntype + ending)
    raise config_refusal("%s has neither %s.npy nor %s.txt" % (path, ntype, ntype))


def _numpy(path: str, lo: int, hi: int, count: int) -> Array:
    import numpy as np  # noqa: PLC0415

    try:
        whole = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise config_refusal("%s is not a file of NumPy: %s" % (path, error)) from error
    if whole.shape != (count,) or whole.dtype.kind not in "iu":
        raise config_refusal(
            "%s has shape %s of %s: %d whole numbers are needed" % (path, whole.shape, whole.dtype, count)
        )
    return np.array(whole[lo:hi], np.int64)


def _text(path: str, lo: int, hi: int, count: int) -> Array:
    import numpy as np  # noqa: PLC0415

    values: List[int] = []
    lines = 0
    with open(path, encoding="ascii", errors="replace") as file:
        lines += sum(1 for _ in itertools.islice(file, lo))
        for line in itertools.islice(file, hi - lo):
            lines += 1
            try:
                values.append(int(line))
            except ValueError:
                raise config_refusal(
                    "%s, line %d: %r is not the number of a part" % (path, lines, line.rstrip("\n"))
                ) from None
        lines += sum(1 for _ in file)
    if lines != count:
        raise config_refusal("%s has %d lines, there are %d nodes: one line a node" % (path, lines, count))
    return np.array(values, np.int64)


def _checked(path: str, values: Array, lo: int, parts: int) -> Array:
    import numpy as np  # noqa: PLC0415

    wrong = np.flatnonzero((values < 0) | (values >= parts))
    if len(wrong):
        raise config_refusal(
            "%s gives node %d the part %d: there are the parts 0 to %d"
            % (path, lo + int(wrong[0]), int(values[wrong[0]]), parts - 1)
        )
    return values

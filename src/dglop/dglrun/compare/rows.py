# SPDX-License-Identifier: Apache-2.0
"""Rows of the input, picked by their ids, in the order of the input and little at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator, Tuple

if TYPE_CHECKING:
    from ..inputs.source import Array, Kind, Source
    from .findings import Findings

__all__ = ("compare_features", "picked")

_BYTES = 32 << 20


def picked(
    ids: Array, count: int, row_bytes: int, read: Callable[[int, int], Any]
) -> Iterator[Tuple[Array, Any, Array]]:
    """Pieces of `ids`: their places among them, what `read` gave, and their places in that."""
    import numpy as np  # noqa: PLC0415

    order = np.argsort(ids, kind="stable")
    in_order = ids[order]
    step = max(1, _BYTES // max(1, row_bytes))
    for lo in range(0, count, step):
        hi = min(lo + step, count)
        begin, end = np.searchsorted(in_order, [lo, hi])
        if begin < end:
            yield order[begin:end], read(lo, hi), in_order[begin:end] - lo


def compare_features(
    source: Source, kind: Kind, name: str, part: Tuple[str, Array, Array], findings: Findings
) -> None:
    """`part` is (what to call it, the input's ids of its rows, its rows)."""
    import numpy as np  # noqa: PLC0415

    what, ids, rows = part
    dtype, shape = source.schema.features[(kind, name)]
    # DGL's files know no truths
    fits = rows.dtype == dtype or (dtype.kind == "b" and rows.dtype == np.uint8)
    if not findings.check(fits, "%s has type %s, the input %s" % (what, rows.dtype, dtype)):
        return
    if not findings.check(
        rows.shape == (len(ids), *shape),
        "%s has shape %s, it must be %s" % (what, rows.shape, (len(ids), *shape)),
    ):
        return
    count = source.schema.count(kind) or 0
    row_bytes = int(dtype.itemsize * np.prod(shape, dtype=np.int64))

    def read(lo: int, hi: int) -> Array:
        if isinstance(kind, str):
            return source.node_data(kind, name, lo, hi)
        return source.edge_data(kind, name, lo, hi)

    for places, found, which in picked(ids, count, row_bytes, read):
        same = _same(rows[places], found[which])
        if not findings.check_all(same, what + " differs from the input in row %d", ids[places]):
            return


def _same(one: Array, other: Array) -> Array:
    """Row by row; what is no number equals what is no number."""
    import numpy as np  # noqa: PLC0415

    equal = one == other.astype(one.dtype)
    if one.dtype.kind == "f":
        equal |= np.isnan(one) & np.isnan(other)
    return equal.reshape(len(one), -1).all(axis=1)

# SPDX-License-Identifier: Apache-2.0
"""A graph whose edges and features are tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Mapping, Tuple

from ..ending import config_refusal
from .source import Etype, Kind, Schema, Source, etype_text, kind_text

if TYPE_CHECKING:
    from .source import Array
    from .tables import Table

__all__ = ("TabularSource",)


class TabularSource(Source):
    """Reads the share that is asked for, and checks it."""

    def __init__(
        self,
        name: str,
        nodes: Mapping[str, int],
        edges: Mapping[Etype, Table],
        features: Mapping[Tuple[Kind, str], Table],
    ) -> None:
        """`nodes`: how many there are of each type. Raises Refusal (ConfigInvalid) for what does not fit."""
        self._edges: Dict[Etype, Table] = dict(edges)
        self._features: Dict[Tuple[Kind, str], Table] = dict(features)
        self.schema: Schema = Schema(
            graph=name,
            ntypes=dict(nodes),
            etypes={etype: table.rows for etype, table in edges.items()},
            features={key: (table.dtype, table.shape) for key, table in features.items()},
        )
        self._check()

    def edges(self, etype: Etype, lo: int, hi: int) -> Tuple[Array, Array]:
        import numpy as np  # noqa: PLC0415

        rows = self._edges[etype].read(lo, hi)
        ends = rows[:, 0], rows[:, 1]
        for word, ntype, ids in (("source", etype[0], ends[0]), ("destination", etype[2], ends[1])):
            count = self.schema.ntypes[ntype]
            wrong = (ids < 0) | (ids >= count)
            if wrong.any():
                first = int(np.argmax(wrong))
                raise config_refusal(
                    "%s: %s id %d of edges %s is not among the %d nodes of type %s, whose ids are 0 to %d"
                    % (
                        self._edges[etype].place(lo + first),
                        word,
                        ids[first],
                        etype_text(etype),
                        count,
                        ntype,
                        count - 1,
                    )
                )
        source, target = (np.ascontiguousarray(column, dtype=np.int64) for column in ends)
        return source, target

    def node_data(self, ntype: str, name: str, lo: int, hi: int) -> Array:
        return self._features[(ntype, name)].read(lo, hi)

    def edge_data(self, etype: Etype, name: str, lo: int, hi: int) -> Array:
        return self._features[(etype, name)].read(lo, hi)

    def _check(self) -> None:
        for etype, table in self._edges.items():
            for ntype in (etype[0], etype[2]):
                if ntype not in self.schema.ntypes:
                    raise config_refusal(
                        "edges %s: there is no node type %s, only %s"
                        % (etype_text(etype), ntype, ", ".join(sorted(self.schema.ntypes)))
                    )
            if table.shape != (2,) or table.dtype.kind not in "iu":
                raise config_refusal(
                    "%s: an edge is two whole numbers, source and destination; the rows have type %s and "
                    "shape %s" % (table.place(0), table.dtype, table.shape)
                )
        for (kind, name), table in self._features.items():
            count = self.schema.count(kind)
            if count is None:
                raise config_refusal("feature %s: there are no %s" % (name, kind_text(kind)))
            if table.rows != count:
                raise config_refusal(
                    "feature %s of %s has %d rows, there are %d (the last row is %s)"
                    % (name, kind_text(kind), table.rows, count, table.place(max(0, table.rows - 1)))
                )

# SPDX-License-Identifier: Apache-2.0
"""The ids that nodes and edges have in the input, as the parts say: each exactly once."""

from __future__ import annotations

from typing import TYPE_CHECKING, List

if TYPE_CHECKING:
    from ..inputs.source import Array
    from .disk import Disk
    from .findings import Findings
    from .numbering import Numbering

__all__ = ("Originals",)


class Originals:
    """Of nodes or of edges; `key` is orig_nids or orig_eids."""

    def __init__(self, disk: Disk, numbering: Numbering, key: str, findings: Findings) -> None:
        import numpy as np  # noqa: PLC0415

        self._disk, self._numbering, self._key, self._findings = disk, numbering, key, findings
        self._seen: List[Array] = [
            np.zeros(int(numbering.lengths[:, kind].sum()), bool) for kind in range(len(numbering.types))
        ]

    def of_part(self, part: int) -> Array:
        """By new id, from the first of the part on; all that cannot be said is -1. Raises LayoutError."""
        import numpy as np  # noqa: PLC0415

        begin, end = self._numbering.range_of(part)
        found = np.full(end - begin, -1, np.int64)
        told = self._disk.tensors(part, self._key)
        for kind, name in enumerate(self._numbering.types):
            first, last = self._numbering.range_of_type(part, kind)
            ids = told.get(name, np.empty(0, np.int64))
            if self._findings.check(
                len(ids) == last - first,
                "part %d: %s has %d ids of %s, the map has %d"
                % (part, self._key, len(ids), name, last - first),
            ):
                found[first - begin : last - begin] = self._take(part, kind, ids)
        return found

    def end(self) -> None:
        """After all parts: what none of them has."""
        for name, seen in zip(self._numbering.types, self._seen):
            ids = (~seen).nonzero()[0]
            if len(ids):
                self._findings.add(
                    "no part has %s %d of the input (and %d more)" % (name, ids[0], len(ids) - 1)
                )

    def _take(self, part: int, kind: int, ids: Array) -> Array:
        import numpy as np  # noqa: PLC0415

        name, seen = self._numbering.types[kind], self._seen[kind]
        known = (ids >= 0) & (ids < len(seen))
        what = "part %d: %s" % (part, self._key)
        self._findings.check_all(known, what + " says %s %%d, which the input does not have" % name, ids)
        again = np.zeros(len(ids), bool)
        again[known] = seen[ids[known]]
        first = np.unique(ids, return_index=True)[1]
        twice = np.ones(len(ids), bool)
        twice[first] = False
        self._findings.check_all(
            ~(again | twice), what + " says %s %%d, which is in a part already" % name, ids
        )
        seen[ids[known]] = True
        return np.where(known, ids, -1)

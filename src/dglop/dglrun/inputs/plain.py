# SPDX-License-Identifier: Apache-2.0
"""A graph of one type without a description: a file of edges, or a folder of edges, nodes and features."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from ..ending import config_refusal
from .csv_file import CsvFile
from .numpy_table import NumpyTable
from .opener import Opener, columns_table, ends_table
from .source import HOMOGENEOUS, Kind
from .tabular import TabularSource

if TYPE_CHECKING:
    from .opener import Columned
    from .source import Alone
    from .tables import Table

__all__ = ("open_plain",)

_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".npy")
_ENDS = (
    ("src", "dst"),
    ("src_id", "dst_id"),
    ("source", "target"),
    ("source", "destination"),
    ("from", "to"),
    ("u", "v"),
)
_IDS = ("id", "node_id")
_NUMBERED = re.compile(r"(.+)_([0-9]+)\Z")
_STEP = 1 << 20
_NODE, _EDGE = HOMOGENEOUS[0], HOMOGENEOUS


def open_plain(path: str, name: str, nodes: Optional[int], peers: Alone) -> TabularSource:
    """`nodes`: how many there are, where no file of nodes says it; else one more than the greatest id.

    Raises Refusal (ConfigInvalid).
    """
    plain = _Plain()
    if os.path.isdir(path):
        plain.folder(path)
    else:
        plain.edge_list(path)
    return plain.open(name, nodes, peers)


class _Plain:
    def __init__(self) -> None:
        self._opener = Opener()
        self._edges: Optional[Table] = None
        self._ids: Optional[Table] = None
        self._features: Dict[Tuple[Kind, str], Table] = {}

    def folder(self, folder: str) -> None:
        self.edge_list(_only(folder, "edges"))
        nodes = _only(folder, "nodes", optional=True)
        if nodes is not None:
            self._node_list(nodes)
        for kind, name in ((_NODE, "node_data"), (_EDGE, "edge_data")):
            beside = os.path.join(folder, name)
            for file in sorted(os.listdir(beside)) if os.path.isdir(beside) else ():
                if file.endswith(".npy"):
                    self._feature(kind, file[: -len(".npy")], NumpyTable(os.path.join(beside, file)))

    def edge_list(self, path: Optional[str]) -> None:
        assert path is not None
        if path.endswith(".npy"):
            self._edges = NumpyTable(path, edges=True)
            return
        file = self._opener.columned(path)
        count = _width(file)
        if count < 2:
            raise config_refusal("%s has %d columns: an edge has two, source and destination" % (path, count))
        ends = _ends(file)
        self._edges = ends_table(file, ends)
        self._columns(_EDGE, file, [column for column in range(count) if column not in ends])

    def _node_list(self, path: str) -> None:
        file = self._opener.columned(path)
        ids = [column for column, name in enumerate(file.names or ()) if name in _IDS]
        if ids:
            self._ids = columns_table(file, ids[:1])
        self._columns(_NODE, file, [column for column in range(_width(file)) if column not in ids[:1]])
        if not self._features and not ids:
            raise config_refusal("%s has no columns" % path)

    def _columns(self, kind: Kind, file: Columned, columns: Sequence[int]) -> None:
        """A feature for each name; columns that are numbered, name_0, name_1, …, are one feature."""
        if columns and file.names is None:
            raise config_refusal(
                "%s has columns without names: begin the file with a line that names them" % file.path
            )
        for name, group in _grouped([(column, (file.names or [])[column]) for column in columns]):
            self._feature(kind, name, columns_table(file, group, _mask(file, name)))

    def _feature(self, kind: Kind, name: str, table: Table) -> None:
        if (kind, name) in self._features:
            raise config_refusal("%s: there is a feature %s already" % (table.place(0), name))
        self._features[(kind, name)] = table

    def open(self, name: str, nodes: Optional[int], peers: Alone) -> TabularSource:
        assert self._edges is not None
        self._opener.count(peers)
        if self._edges.shape != (2,) or self._edges.dtype.kind not in "iu":
            raise config_refusal(
                "%s: an edge is two whole numbers, here are values of type %s and shape %s"
                % (self._edges.place(0), self._edges.dtype, self._edges.shape)
            )
        counts = {table.rows for (kind, _), table in self._features.items() if kind == _NODE}
        if self._ids is not None:
            _check_ids(self._ids, peers)
            counts = {self._ids.rows}
        count = max(counts) if counts else nodes
        if count is None:
            count = _greatest(self._edges, peers) + 1
        return TabularSource(name, {_NODE: count}, {_EDGE: self._edges}, self._features)


def _only(folder: str, stem: str, *, optional: bool = False) -> Optional[str]:
    found = [stem + ending for ending in _ENDINGS if os.path.isfile(os.path.join(folder, stem + ending))]
    if len(found) == 1:
        return os.path.join(folder, found[0])
    if optional and not found:
        return None
    raise config_refusal(
        "the folder %s must hold a metadata.json, or one of %s; there is %s"
        % (folder, ", ".join(stem + ending for ending in _ENDINGS), " and ".join(found) or "none")
    )


def _width(file: Columned) -> int:
    return file.columns if isinstance(file, CsvFile) else len(file.names)


def _ends(file: Columned) -> List[int]:
    names = file.names or []
    for source, target in _ENDS:
        if source in names and target in names:
            return [names.index(source), names.index(target)]
    return [0, 1]


def _grouped(columns: Sequence[Tuple[int, str]]) -> List[Tuple[str, List[int]]]:
    numbered: Dict[str, Dict[int, int]] = {}
    for column, name in columns:
        match = _NUMBERED.match(name)
        if match:
            numbered.setdefault(match.group(1), {})[int(match.group(2))] = column
    whole = {name: places for name, places in numbered.items() if sorted(places) == list(range(len(places)))}
    taken = {column for places in whole.values() for column in places.values()}
    groups = [(name, [column]) for column, name in columns if column not in taken]
    return groups + [(name, [places[number] for number in sorted(places)]) for name, places in whole.items()]


def _mask(file: Columned, name: str) -> Optional[Any]:
    """What is called a mask is one, though text can only hold 0 and 1."""
    import numpy as np  # noqa: PLC0415

    return np.dtype("bool") if name.endswith("_mask") and isinstance(file, CsvFile) else None


def _shares(rows: int, peers: Alone) -> List[Tuple[int, int]]:
    lo, hi = rows * peers.rank // peers.size, rows * (peers.rank + 1) // peers.size
    return [(begin, min(begin + _STEP, hi)) for begin in range(lo, hi, _STEP)]


def _greatest(edges: Table, peers: Alone) -> int:
    found = [int(edges.read(lo, hi).max()) for lo, hi in _shares(edges.rows, peers)]
    return int(max(peers.share(max(found, default=-1))))


def _check_ids(ids: Table, peers: Alone) -> None:
    import numpy as np  # noqa: PLC0415

    for lo, hi in _shares(ids.rows, peers):
        wrong = ids.read(lo, hi) != np.arange(lo, hi)
        if wrong.any():
            row = lo + int(np.argmax(wrong))
            raise config_refusal(
                "%s: the id is %s, in the order of the rows it must be %d: sort the nodes, number from 0"
                % (ids.place(row), ids.read(row, row + 1)[0], row)
            )

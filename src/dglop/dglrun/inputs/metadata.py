# SPDX-License-Identifier: Apache-2.0
"""A folder with DGL's chunked-graph `metadata.json`: which types there are, and in which files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

from ..ending import config_refusal
from .opener import Opener, dtype_named
from .source import Etype, Kind, etype_of, kind_text
from .tables import Chunks
from .tabular import TabularSource

if TYPE_CHECKING:
    from .source import Alone
    from .tables import Table

__all__ = ("METADATA", "open_described")

METADATA = "metadata.json"


def open_described(folder: str, name: Optional[str], peers: Alone) -> TabularSource:
    """Raises Refusal (ConfigInvalid) for what the description and the files do not agree on."""
    path = os.path.join(folder, METADATA)
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise config_refusal("cannot read %s: %s" % (path, error.strerror or error)) from error
    except ValueError as error:
        raise config_refusal("%s is no JSON: %s" % (path, error)) from error
    return _Described(path, data).open(name, peers)


class _Described:
    def __init__(self, path: str, data: Any) -> None:
        self._path, self._folder = path, os.path.dirname(path)
        self._data: Mapping[str, Any] = self._typed(data, dict, "the whole")
        self._opener = Opener()

    def open(self, name: Optional[str], peers: Alone) -> TabularSource:
        nodes = {ntype: sum(counts) for ntype, counts in self._counts("node").items()}
        expected = {etype_of(text): counts for text, counts in self._counts("edge").items()}
        described = self._entry(self._data, "edges", dict)
        edges = {
            etype: self._table(kind_text(etype), self._entry(described, ":".join(etype), dict), edges=True)
            for etype in expected
        }
        features: Dict[Tuple[Kind, str], List[Table]] = {}
        for key, of in (("node_data", _same), ("edge_data", etype_of)):
            for kind, entries in self._typed(self._data.get(key) or {}, dict, key).items():
                for feature, entry in self._typed(entries, dict, "%s of %s" % (key, kind)).items():
                    place = "%s %s of %s" % (key, feature, kind)
                    features[(of(kind), feature)] = self._table(place, entry, edges=False)
        self._opener.count(peers)
        self._expect(edges, expected)
        found = name or str(self._entry(self._data, "graph_name", str))
        return TabularSource(found, nodes, _joined(edges), _joined(features))

    def _counts(self, word: str) -> Dict[str, List[int]]:
        """How many there are of each type, in each chunk; newer DGL says only how many of each type."""
        types = self._entry(self._data, word + "_type", list)
        whole = self._data.get("num_%ss_per_type" % word)
        counts = whole if whole is not None else self._entry(self._data, "num_%ss_per_chunk" % word, list)
        counts = [each if isinstance(each, list) else [each] for each in self._typed(counts, list, "counts")]
        if len(types) != len(counts) or len(set(types)) != len(types) or not types:
            raise config_refusal(
                "%s: %s_type names %d types, there are counts for %d"
                % (self._path, word, len(types), len(counts))
            )
        if not all(isinstance(count, int) and count >= 0 for each in counts for count in each):
            raise config_refusal("%s: the numbers of %ss are no whole numbers" % (self._path, word))
        return dict(zip(types, counts))

    def _table(self, place: str, entry: Any, *, edges: bool) -> List[Table]:
        entry = self._typed(entry, dict, place)
        form = self._typed(entry.get("format", {}), dict, "the format of " + place)
        paths = self._entry(entry, "data", list)
        if not paths or not all(isinstance(path, str) for path in paths):
            raise config_refusal("%s: %s names no files in data" % (self._path, place))
        dtype = dtype_named(entry.get("dtype"), "%s, %s" % (self._path, place))
        return [
            self._opener.table(
                str(form.get("name", "")), os.path.join(self._folder, path),
                delimiter=form.get("delimiter"), dtype=dtype, edges=edges,
            )
            for path in paths
        ]  # fmt: skip

    def _expect(self, edges: Mapping[Etype, List[Table]], expected: Mapping[Etype, List[int]]) -> None:
        for etype, tables in edges.items():
            counts = [table.rows for table in tables]
            wanted = expected[etype]
            if sum(counts) != sum(wanted) or (len(wanted) == len(counts) and counts != wanted):
                wrong = next((n for n, (has, wants) in enumerate(zip(counts, wanted)) if has != wants), 0)
                raise config_refusal(
                    "%s says %s %s, the files have %s (from %s on)"
                    % (self._path, kind_text(etype), wanted, counts, tables[wrong].place(0))
                )

    def _entry(self, of: Mapping[str, Any], key: str, kind: type) -> Any:
        if key not in of:
            raise config_refusal("%s has no %s" % (self._path, key))
        return self._typed(of[key], kind, key)

    def _typed(self, value: Any, kind: type, place: str) -> Any:
        if not isinstance(value, kind):
            raise config_refusal("%s: %s is no %s" % (self._path, place, kind.__name__))
        return value


def _joined(tables: Mapping[Any, List[Table]]) -> Dict[Any, Table]:
    return {key: each[0] if len(each) == 1 else Chunks(each) for key, each in tables.items()}


def _same(kind: str) -> Kind:
    return kind

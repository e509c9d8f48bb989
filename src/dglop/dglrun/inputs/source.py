# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a graph that is brought: its types, and shares of its edges and features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple, Union

from ..ending import config_refusal

__all__ = ("ALONE", "HOMOGENEOUS", "Alone", "Array", "Etype", "Feature", "Kind", "Schema", "Source",
           "etype_of", "etype_text", "kind_text")  # fmt: skip

Array = Any  # numpy.ndarray, which the operator's own Python need not have
Etype = Tuple[str, str, str]
Kind = Union[str, Etype]  # a node type or an edge type
Feature = Tuple[Any, Tuple[int, ...]]  # dtype of numpy, shape of a row

HOMOGENEOUS: Etype = ("_N", "_E", "_N")  # DGL's names where there are no types


@dataclass(frozen=True)
class Schema:
    """The types of a graph and how many there are of each; `features` by (node type or edge type, name)."""

    graph: str
    ntypes: Dict[str, int]
    etypes: Dict[Etype, int]
    features: Dict[Tuple[Kind, str], Feature] = field(default_factory=dict)

    def count(self, kind: Kind) -> Optional[int]:
        """How many there are of a node type or an edge type; None where there is no such type."""
        return self.ntypes.get(kind) if isinstance(kind, str) else self.etypes.get(kind)

    def names(self, kind: Kind) -> List[str]:
        """The features of a node type or an edge type, in order."""
        return sorted(name for of, name in self.features if of == kind)


class Source:
    """A graph of which any share can be read.

    Edges and nodes of a type are numbered from 0 in the order of the input; a share is the rows lo to hi-1.
    Reading raises Refusal (ConfigInvalid) that names file, place and value where the input is wrong.
    """

    schema: Schema

    def edges(self, etype: Etype, lo: int, hi: int) -> Tuple[Array, Array]:
        """Sources and destinations, int64, each checked to be a node."""
        raise NotImplementedError

    def node_data(self, ntype: str, name: str, lo: int, hi: int) -> Array:
        """Rows of a feature, of the dtype and shape that the schema says."""
        raise NotImplementedError

    def edge_data(self, etype: Etype, name: str, lo: int, hi: int) -> Array:
        """Rows of a feature, of the dtype and shape that the schema says."""
        raise NotImplementedError

    def to_graph(self) -> Any:
        """All of it, as one DGLGraph in this process' memory."""
        from .whole import graph_of  # noqa: PLC0415

        return graph_of(self)


class Alone:
    """Processes that open a source together divide what has to be counted; this is one without others."""

    rank: int = 0
    size: int = 1

    def share(self, told: Any) -> List[Any]:
        """What each process told (JSON's values), by rank; all must call it."""
        return [told]


ALONE = Alone()


def etype_text(etype: Etype) -> str:
    """The name of an edge type in DGL's files."""
    return ":".join(etype)


def etype_of(text: str) -> Etype:
    """Raises Refusal (ConfigInvalid) for what is no `source:relation:destination`."""
    names = text.split(":")
    if len(names) != 3 or not all(names):
        raise config_refusal("%r is no edge type: write source:relation:destination" % text)
    return names[0], names[1], names[2]


def kind_text(kind: Kind) -> str:
    """For messages: whose feature it is."""
    return "nodes of type %s" % kind if isinstance(kind, str) else "edges %s" % etype_text(kind)

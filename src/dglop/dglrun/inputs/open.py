# SPDX-License-Identifier: Apache-2.0
"""The graph that a URL names, as a source, whatever its format."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Optional
from urllib.parse import unquote, urlsplit

from .. import contract
from ..ending import config_refusal
from .metadata import METADATA, open_described
from .plain import open_plain
from .source import ALONE
from .whole import open_saved

if TYPE_CHECKING:
    from .source import Alone, Source

__all__ = ("FORMATS", "check_name", "format_of", "open_source", "path_of")

FORMATS = ("dgl", "csv", "numpy", "parquet", "chunked")
_BY_ENDING = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".npy": "numpy", ".parquet": "parquet"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")


def open_source(
    url: str,
    form: Optional[str] = None,
    *,
    name: Optional[str] = None,
    nodes: Optional[int] = None,
    peers: Alone = ALONE,
    shares: bool = False,
) -> Source:
    """Open what `url` (file:///…) names. Raises Refusal (ConfigInvalid).

    `form` is one of FORMATS, guessed from the name where None. `name` is the graph's, else the input's own.
    `nodes`: how many nodes a plain list of edges has, where it is not one more than the greatest id.
    `peers`: all processes that open it together; what must be counted is divided among them.
    `shares`: no process may hold all of it, so that a file that can only be read whole is refused.
    """
    path = path_of(url)
    form = form or format_of(path)
    if form not in FORMATS:
        raise config_refusal("%s=%s: there are %s" % (contract.ENV_DATASET_FORMAT, form, ", ".join(FORMATS)))
    if form == "chunked":
        source: Source = open_described(path, name, peers)
    elif form == "dgl":
        if os.path.isdir(path):
            raise config_refusal("%s is a folder: name the file that dgl.save_graphs wrote" % path)
        if shares:
            raise config_refusal(
                "the dataset %s is a file of DGL, which is only read whole: with partitionMode MSP bring the "
                "graph as NumPy, CSV or Parquet, or use partitionMode SSP or SMP" % path
            )
        source = open_saved(path, name or _stem(path))
    else:
        source = open_plain(path, name or _stem(path), nodes, peers)
    check_name(source.schema.graph)
    return source


def path_of(url: str) -> str:
    """The file or folder that a dataset's URL names. Raises Refusal (ConfigInvalid) where there is none."""
    parts = urlsplit(url)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise config_refusal(
            "%s=%s: the built-in partition reads file:///…, give the Partitioner a command for other places"
            % (contract.ENV_DATASET_URL, parts.scheme + "://…")
        )
    path = unquote(parts.path)
    if not os.path.exists(path):
        raise config_refusal("the dataset %s does not exist in the pod" % path)
    return path.rstrip("/") or path


def format_of(path: str) -> str:
    """What the name of a file or the content of a folder says; anything else is taken for DGL's."""
    if not os.path.isdir(path):
        return _BY_ENDING.get(os.path.splitext(path)[1].lower(), "dgl")
    if os.path.isfile(os.path.join(path, METADATA)):
        return "chunked"
    for ending, form in _BY_ENDING.items():
        if os.path.isfile(os.path.join(path, "edges" + ending)):
            return form
    raise config_refusal(
        "the folder %s holds neither %s nor edges.csv, edges.npy or edges.parquet: see docs/data.md"
        % (path, METADATA)
    )


def check_name(name: str) -> None:
    """Raises Refusal (ConfigInvalid) for a graph's name that cannot be that of a file."""
    if not _NAME.match(name):
        raise config_refusal(
            "the graph's name %r must be of letters, digits, '.', '_' and '-': set %s"
            % (name, contract.ENV_GRAPH_NAME)
        )


def _stem(path: str) -> str:
    name = os.path.basename(path)
    return os.path.splitext(name)[0] if not os.path.isdir(path) else name

# SPDX-License-Identifier: Apache-2.0
"""The dataset that the job names, as a source of which each process reads a share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import unquote, urlsplit

from .. import contract
from ..datasets import digits, saved, synthetic
from ..ending import config_refusal
from .chunked import METADATA, ChunkedSource, write_chunked
from .source import GraphSource

if TYPE_CHECKING:
    from ..env import Env
    from .mesh import Mesh
    from .source import Source

__all__ = ("open_dataset",)


def open_dataset(env: Env, mesh: Mesh, scratch: Optional[str]) -> Source:
    """All processes must call it. Raises Refusal (ConfigInvalid).

    `scratch` is a folder that all processes share, None where they share none. A graph that can only be had
    whole is had by one process then, which leaves it there for all; else each makes a built-in one by itself.
    """
    url, name = env.maybe(contract.ENV_DATASET_URL), env.maybe(contract.ENV_DATASET_NAME)
    path = None if url is None else _path(url)
    if path is not None and os.path.isdir(path):
        return ChunkedSource(path)
    if path is not None and scratch is None:
        raise config_refusal(
            "the dataset %s is a file that can only be read whole: with partitionMode MSP give a folder with "
            "%s, or use partitionMode SSP or SMP" % (path, METADATA)
        )
    if scratch is None:
        return _whole(env, name, url)
    if mesh.rank == 0:
        write_chunked(_whole(env, name, url), scratch)
    mesh.share(None)
    return ChunkedSource(scratch)


def _whole(env: Env, name: Optional[str], url: Optional[str]) -> Source:
    made: Any
    if url is not None:
        made, name = saved(url), name or os.path.splitext(os.path.basename(_path(url)))[0]
    elif name == "digits":
        made = digits()
    elif name == "synthetic":
        made = synthetic(env.integer(contract.ENV_DATASET_NODES, 2000, least=10))
    else:
        raise config_refusal(
            "%s=%s: the built-in partition knows digits and synthetic" % (contract.ENV_DATASET_NAME, name)
        )
    return GraphSource(made, env.text(contract.ENV_GRAPH_NAME, name))


def _path(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise config_refusal(
            "%s=%s: the built-in partition reads file:///…, give the Partitioner a command for other places"
            % (contract.ENV_DATASET_URL, parts.scheme + "://…")
        )
    path = unquote(parts.path)
    if not os.path.exists(path):
        raise config_refusal("the dataset %s does not exist in the pod" % path)
    return path

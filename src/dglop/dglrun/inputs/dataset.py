# SPDX-License-Identifier: Apache-2.0
"""The dataset that a job names, as a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import contract
from ..datasets import digits, synthetic
from ..ending import config_refusal
from .arrays import source_of_graph
from .open import check_name, open_source
from .source import ALONE
from .synthetic import synthetic_hetero

if TYPE_CHECKING:
    from ..env import Env
    from .source import Alone, Source

__all__ = ("open_dataset",)

_BUILT_IN = ("digits", "synthetic", "synthetic-hetero")


def open_dataset(env: Env, peers: Alone = ALONE, *, shares: bool = False) -> Source:
    """What ENV_DATASET_URL or ENV_DATASET_NAME says; `peers` and `shares` are those of `open_source`.

    A built-in graph is made by every process alike. Raises Refusal (ConfigInvalid).
    """
    name, url = env.maybe(contract.ENV_DATASET_NAME), env.maybe(contract.ENV_DATASET_URL)
    graph_name = env.maybe(contract.ENV_GRAPH_NAME) or name
    nodes = env.maybe(contract.ENV_DATASET_NODES) and env.integer(contract.ENV_DATASET_NODES, least=1)
    if url is not None:
        form = env.maybe(contract.ENV_DATASET_FORMAT)
        return open_source(url, form, name=graph_name, nodes=nodes or None, peers=peers, shares=shares)
    if name not in _BUILT_IN:
        raise config_refusal(
            "%s=%s: the built-in partition knows %s; another graph needs %s"
            % (contract.ENV_DATASET_NAME, name, ", ".join(_BUILT_IN), contract.ENV_DATASET_URL)
        )
    assert graph_name is not None
    check_name(graph_name)
    if name == "digits":
        return source_of_graph(digits(), graph_name)
    nodes = env.integer(contract.ENV_DATASET_NODES, 2000, least=10)
    if name == "synthetic":
        return source_of_graph(synthetic(nodes), graph_name)
    return synthetic_hetero(nodes, name=graph_name)

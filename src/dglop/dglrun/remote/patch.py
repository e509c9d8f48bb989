# SPDX-License-Identifier: Apache-2.0
"""Changes `dgl.distributed` in a trainer or sampler that has no server on its machine."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Tuple

from .. import contract
from ..env import Env
from ..machine import ipv4
from .optimizer import make_local_ids, make_step
from .pool import RemotePool, connect
from .sampler import serve_samples
from .split import make_split
from .store import RemoteStore

__all__ = ("patch",)

_NEEDED = (
    ("kvstore", "KVClient"),
    ("kvstore", "SendMetaToBackupRequest"),
    ("rpc_client", "get_local_machine_id"),
    ("dist_graph", "_get_graph_from_shared_mem"),
    ("dist_graph", "get_shared_mem_partition_book"),
    ("dist_context", "CustomPool"),
    ("dist_context", "init_process"),
)


def patch(distributed: Any) -> None:
    """Change the module `dgl.distributed`, once, before anything of it was used.

    Raises RuntimeError for a DGL that is built otherwise than 1.1.
    """
    missing = [
        "%s.%s" % pair for pair in _NEEDED if not hasattr(getattr(distributed, pair[0], None), pair[1])
    ]
    if missing:
        import dgl  # noqa: PLC0415

        raise RuntimeError(
            "trainingLayout TriWorkload needs DGL 1.1, this is %s without %s; use trainingLayout Fused"
            % (getattr(dgl, "__version__", "another"), ", ".join(missing))
        )
    home = int(os.environ[contract.ENV_HOME_PART])
    distributed.kvstore.KVClient = type("KVClient", (RemoteStore, distributed.kvstore.KVClient), {})
    distributed.rpc_client.get_local_machine_id = lambda _book: home
    _patch_graph(distributed, home)
    optimizer = distributed.optim.pytorch.sparse_optim.DistSparseGradOptimizer
    optimizer.step = make_step(optimizer.step)
    optimizer._get_local_ids = make_local_ids()  # noqa: SLF001
    stock = distributed.dist_context.initialize
    distributed.initialize = distributed.dist_context.initialize = _make_initialize(stock)


def _patch_graph(distributed: Any, home: int) -> None:
    """No part of the graph is in this machine's memory; the partition book comes from its file."""
    graph, tensor = distributed.dist_graph, distributed.dist_tensor
    books: Dict[str, Any] = {}

    def book(_name: str) -> Any:
        config = os.environ["DGL_CONF_PATH"]
        if config not in books:
            books[config] = distributed.partition.load_partition_book(config, home)[0]
        return books[config]

    def local_partition(self: Any) -> Any:
        raise RuntimeError(
            "%s has no local partition: no server runs in this pod; read rows by their ids" % self.name
        )

    graph._get_graph_from_shared_mem = lambda _name: None  # noqa: SLF001
    graph.get_shared_mem_partition_book = book
    tensor.DistTensor.local_partition = property(local_partition)
    distributed.node_split = graph.node_split = make_split(graph.node_split, nodes=True)
    distributed.edge_split = graph.edge_split = make_split(graph.edge_split, nodes=False)


def _make_initialize(stock: Any) -> Any:
    """DGL's `initialize`, which does not return in a sampler, as it does not in a server."""

    def initialize(
        ip_config: str, max_queue_size: Any = None, net_type: str = "socket", num_worker_threads: int = 1
    ) -> None:
        from dgl.distributed import dist_context  # noqa: PLC0415

        env = Env(os.environ)
        size = dist_context.MAX_QUEUE_SIZE if max_queue_size is None else max_queue_size
        if env.maybe("DGL_ROLE") == "sampler":
            servers, group = env.integer("DGL_NUM_SERVER", 1), env.integer("DGL_GROUP_ID", 0)
            serve_samples(
                (ip_config, servers, size, net_type, "sampler", num_worker_threads, group),
                address=(ipv4(env.text(contract.ENV_POD_IP)), env.integer(contract.ENV_SAMPLER_PORT)),
                token=_token(env),
                trainers=env.integer(contract.ENV_SAMPLED_TRAINERS, least=1),
            )
        stock(ip_config, size, net_type, num_worker_threads)
        addresses = _addresses(env.text(contract.ENV_SAMPLERS, "-"))
        if addresses:
            _use(dist_context, addresses, _token(env), env.integer("RANK"))

    return initialize


def _use(context: Any, addresses: List[Tuple[str, int]], token: str, rank: int) -> None:
    """Have DGL's loaders sample in other pods. Raises Gone."""
    lines = [connect(each, token, rank) for each in addresses]
    kind = type("RemotePool", (RemotePool, context.CustomPool), {})
    context.SAMPLER_POOL = kind(lines, ["%s:%d" % each for each in addresses])
    context.NUM_SAMPLER_WORKERS = len(lines)


def _addresses(text: str) -> List[Tuple[str, int]]:
    if text == "-":
        return []
    pairs = [each.rpartition(":") for each in text.split(",")]
    return [(host, int(port)) for host, _, port in pairs]


def _token(env: Env) -> str:
    token = env.secret(contract.ENV_PARTS_TOKEN_FILE)
    if token is None:
        raise RuntimeError("%s is not set: samplers serve only who knows it" % contract.ENV_PARTS_TOKEN_FILE)
    return token

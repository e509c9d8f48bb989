# SPDX-License-Identifier: Apache-2.0
"""What DGL's distributed API promises, asked by every trainer of a job whose servers are in other pods.

Runs as server, sampler and trainer, like any program of a job, on the parts of the digits graph.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

import dgl
import torch
from dgl.dataloading import DistNodeDataLoader, NeighborSampler
from dgl.distributed import DistEmbedding, DistTensor, node_split
from dglrun import report
from torch import distributed
from torch.nn import functional


def ones(shape, dtype):
    return torch.ones(shape, dtype=dtype)


def noise(shape, dtype):
    return torch.rand(shape, dtype=dtype) - 0.5


def gathered(value):
    """What each trainer has, by rank."""
    found = [None] * distributed.get_world_size()
    distributed.all_gather_object(found, value)
    return found


def check_memory(graph) -> None:
    """No graph data is in this pod."""
    assert graph.local_partition is None
    assert os.listdir("/dev/shm") == [], os.listdir("/dev/shm")
    try:
        _ = graph.ndata["feat"].local_partition
    except RuntimeError as error:
        assert "no local partition" in str(error)
    else:
        raise AssertionError("a trainer without a server has a local partition")


def check_split(graph) -> None:
    """The shares of all trainers are all chosen nodes, each once, evenly or by parts."""
    mask, book = graph.ndata["train_mask"], graph.get_partition_book()
    everything = mask[torch.arange(graph.num_nodes())].nonzero().flatten().tolist()
    for even in (True, False):
        shares = gathered(node_split(mask, book, force_even=even).tolist())
        assert sorted(sum(shares, [])) == everything
        if even:
            assert max(map(len, shares)) - min(map(len, shares)) <= book.num_partitions()


def check_tensors(graph) -> None:
    """A tensor is made in every part, and what a trainer writes all read after a barrier."""
    rank, count = distributed.get_rank(), graph.num_nodes()
    ids, world = torch.arange(count), distributed.get_world_size()
    tensor = DistTensor((count, 3), torch.float32, "made", init_func=ones)
    assert bool((tensor[ids] == 1).all())
    distributed.barrier()  # or a fast trainer would write what a slow one has not read yet
    for turn in range(3):
        mine = ids[ids % world == rank]
        tensor[mine] = (mine[:, None] * (turn + 1)).float().expand(-1, 3)
        distributed.barrier()
        assert bool((tensor[ids] == (ids[:, None] * (turn + 1)).float()).all())
        distributed.barrier()
    assert tensor.count_nonzero() == 3 * (count - 1)
    both = graph.ndata["train_mask"] | graph.ndata["test_mask"]
    distributed.barrier()
    want = graph.ndata["train_mask"][ids].bool() | graph.ndata["test_mask"][ids].bool()
    assert torch.equal(both[ids].bool(), want)
    distributed.barrier()
    del tensor, both
    again = DistTensor((count, 3), torch.float32, "made")
    assert int(again[ids].count_nonzero()) == 0


def check_state(optimizer, embedding) -> None:
    """The saved states of all trainers are the state of every row."""
    state = optimizer.local_state_dict()["emb_states"][embedding.name]
    assert {row for ids in gathered(state["ids"].tolist()) for row in ids} == set(
        range(embedding.num_embeddings)
    )


def learn(graph, steps: int) -> tuple[float, float]:
    """Embeddings alone, without features, tell the digits apart; (accuracy before, after)."""
    embedding = DistEmbedding(graph.num_nodes(), 16, "learned", init_func=noise)
    optimizer = dgl.distributed.optim.SparseAdam([embedding], lr=0.05)
    torch.manual_seed(0)
    classes = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 10))
    dense = torch.optim.Adam(classes.parameters(), 0.05)
    book = graph.get_partition_book()
    seeds = node_split(graph.ndata["train_mask"], book)
    sampler = NeighborSampler([5])
    loader = DistNodeDataLoader(graph, seeds, sampler, batch_size=len(seeds), shuffle=True)
    tests = DistNodeDataLoader(
        graph, node_split(graph.ndata["test_mask"], book), sampler, batch_size=4096, shuffle=False
    )

    def guess(inputs, blocks):
        # a node is known by its neighbours' embeddings, its own included
        block, rows = blocks[0], embedding(inputs)
        block.srcdata["x"] = rows
        block.update_all(dgl.function.copy_u("x", "m"), dgl.function.mean("m", "y"))
        return classes(block.dstdata["y"] + rows[: block.num_dst_nodes()])

    def accuracy() -> float:
        counts = torch.zeros(2)
        with torch.no_grad():
            for inputs, nodes, blocks in tests:
                right = guess(inputs, blocks).argmax(1) == graph.ndata["label"][nodes].long()
                counts += torch.tensor([right.sum(), len(nodes)])
        distributed.all_reduce(counts)
        return float(counts[0] / counts[1])

    before = accuracy()
    for _ in range(steps):
        for inputs, nodes, blocks in loader:  # every trainer has one batch
            loss = functional.cross_entropy(guess(inputs, blocks), graph.ndata["label"][nodes].long())
            optimizer.zero_grad()
            dense.zero_grad()
            loss.backward()
            optimizer.step()
            dense.step()
    check_state(optimizer, embedding)
    return before, accuracy()


def main() -> None:
    dgl.distributed.initialize(os.environ["DGL_IP_CONFIG"])  # a server or a sampler never returns from here
    distributed.init_process_group("gloo")
    name = json.loads(Path(os.environ["DGL_CONF_PATH"]).read_text())["graph_name"]
    graph = dgl.distributed.DistGraph(name)
    for check in (check_memory, check_split, check_tensors):
        check(graph)
        print(f"{check.__name__} holds", flush=True)
    before, after = learn(graph, int(os.environ.get("STEPS", "30")))
    check_memory(graph)
    if distributed.get_rank() == 0:
        print(f"accuracy of embeddings {before:.3f}, after training {after:.3f}", flush=True)
        report(100, accuracyBefore=before, accuracy=after)


if __name__ == "__main__":
    try:
        main()
    except Exception:
        traceback.print_exc()
        sys.stdout.flush()
        os._exit(1)

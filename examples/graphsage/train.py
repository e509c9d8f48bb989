# SPDX-License-Identifier: Apache-2.0
"""GraphSAGE over all Workers: the same program is DGL's server (DGL_ROLE=server) and a trainer.

Trained files go to $DGLJOB_OUTPUT_DIR: model.pt, metrics.json, and checkpoint.pt after every epoch, from which
a later attempt goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

import dgl
import torch
from dgl.nn import SAGEConv
from dglrun import report
from torch import nn
from torch.nn import functional

FANOUT = [10, 10]


class GraphSage(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([SAGEConv(features, hidden, "mean"), SAGEConv(hidden, classes, "mean")])

    def forward(self, blocks, x):
        first, second = self.layers
        return second(blocks[1], functional.relu(first(blocks[0], x)))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="GraphSAGE over all Workers")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=1e-2)
    # what tests need: time to break something, and something that breaks
    parser.add_argument("--epoch-seconds", type=float, default=float(os.environ.get("EPOCH_SECONDS", "0")))
    parser.add_argument("--fail-at-epoch", type=int, default=int(os.environ.get("FAIL_AT_EPOCH", "-1")))
    parser.add_argument("--fail-rank", type=int, default=int(os.environ.get("FAIL_RANK", "0")))
    parser.add_argument("--fail-code", type=int, default=int(os.environ.get("FAIL_CODE", "1")))
    parser.add_argument("--fail-attempts", type=int, default=int(os.environ.get("FAIL_ATTEMPTS", "1000000")))
    return parser.parse_args()


def fail_if_told(arguments: argparse.Namespace, epoch: int, rank: int) -> None:
    early = int(os.environ.get("DGLJOB_ATTEMPT", "1")) <= arguments.fail_attempts
    if epoch == arguments.fail_at_epoch and rank == arguments.fail_rank and early:
        print(f"rank {rank} fails in epoch {epoch}, as it was told to", flush=True)
        # at once: at a usual exit DGL waits for all others first
        os._exit(arguments.fail_code)


def evaluate(model, graph, loader) -> float:
    """Accuracy over the test nodes of all parts."""
    model.eval()
    right_of = torch.zeros(2)
    with torch.no_grad():
        for inputs, seeds, blocks in loader:
            guess = model(blocks, graph.ndata["feat"][inputs]).argmax(1)
            right_of += torch.tensor([(guess == graph.ndata["label"][seeds].long()).sum(), len(seeds)])
    model.train()
    torch.distributed.all_reduce(right_of)
    return float(right_of[0] / right_of[1])


def train_epoch(model, graph, loader, optimizer) -> tuple[float, int]:
    """Mean loss of this trainer and how many nodes it saw."""
    total = steps = seen = 0
    # trainers may have unequal numbers of batches
    with model.join():
        for inputs, seeds, blocks in loader:
            output = model(blocks, graph.ndata["feat"][inputs])
            loss = functional.cross_entropy(output, graph.ndata["label"][seeds].long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, steps, seen = total + loss.item(), steps + 1, seen + len(seeds)
    return total / max(1, steps), seen


def load_checkpoint(path: str, name: str, model, optimizer) -> int:
    """The epoch to go on with: 0 unless there is a checkpoint of the same graph."""
    if not os.path.exists(path):
        return 0
    saved = torch.load(path)
    if saved["job"] != name:
        return 0
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["epoch"] + 1


def save(path: str, content) -> None:
    torch.save(content, path + ".tmp")
    os.replace(path + ".tmp", path)


def train(arguments: argparse.Namespace) -> None:
    graph_name = json.load(open(os.environ["DGL_CONF_PATH"]))["graph_name"]
    dgl.distributed.initialize(os.environ["DGL_IP_CONFIG"])  # a server never returns from here
    torch.distributed.init_process_group("gloo")
    rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    graph = dgl.distributed.DistGraph(graph_name, part_config=os.environ["DGL_CONF_PATH"])
    book = graph.get_partition_book()
    train_nodes = dgl.distributed.node_split(graph.ndata["train_mask"], book, force_even=True)
    test_nodes = dgl.distributed.node_split(graph.ndata["test_mask"], book, force_even=True)
    print(f"rank {rank} of {world}: {len(train_nodes)} training and {len(test_nodes)} test nodes", flush=True)

    torch.manual_seed(0)
    classes = int(graph.ndata["label"][0 : graph.num_nodes()].max()) + 1
    bare = GraphSage(graph.ndata["feat"].shape[1], arguments.hidden, classes)
    optimizer = torch.optim.Adam(bare.parameters(), arguments.learning_rate)
    output = os.environ.get("DGLJOB_OUTPUT_DIR", ".")
    checkpoint = os.path.join(output, "checkpoint.pt")
    job = f"{os.environ.get('DGLJOB_UID', '')}/{graph_name}"
    start = torch.tensor([load_checkpoint(checkpoint, job, bare, optimizer) if rank == 0 else 0])
    torch.distributed.broadcast(start, 0)
    for value in bare.state_dict().values():
        torch.distributed.broadcast(value, 0)
    model = nn.parallel.DistributedDataParallel(bare)

    sampler = dgl.dataloading.NeighborSampler(FANOUT)
    loader = dgl.dataloading.DistNodeDataLoader(
        graph, train_nodes, sampler, batch_size=arguments.batch_size, shuffle=True
    )
    test_loader = dgl.dataloading.DistNodeDataLoader(graph, test_nodes, sampler, batch_size=256, shuffle=False)
    if int(start) and rank == 0:
        print(f"going on from the checkpoint of epoch {int(start) - 1}", flush=True)
    for epoch in range(int(start), arguments.epochs):
        began = time.monotonic()
        fail_if_told(arguments, epoch, rank)
        loss, seen = train_epoch(model, graph, loader, optimizer)
        accuracy = evaluate(bare, graph, test_loader)
        speed = seen * world / (time.monotonic() - began)
        print(f"rank {rank} epoch {epoch} loss {loss:.4f} test accuracy {accuracy:.4f}", flush=True)
        # pads the epoch, so that a test has time to break something
        time.sleep(max(0.0, arguments.epoch_seconds - (time.monotonic() - began)))
        if rank == 0:
            took = time.monotonic() - began
            state = {"job": job, "epoch": epoch, "model": bare.state_dict(), "optimizer": optimizer.state_dict()}
            save(checkpoint, state)
            done = epoch + 1
            report(
                100 * done / arguments.epochs,
                remaining_seconds=took * (arguments.epochs - done),
                epoch=f"{done}/{arguments.epochs}",
                loss=loss,
                testAccuracy=accuracy,
                samplesPerSecond=int(speed),
            )
    accuracy = evaluate(bare, graph, test_loader)
    if rank == 0:
        save(os.path.join(output, "model.pt"), bare.state_dict())
        with open(os.path.join(output, "metrics.json"), "w") as file:
            json.dump({"testAccuracy": accuracy, "epochs": arguments.epochs, "graph": graph_name}, file)
        report(100, remaining_seconds=0, testAccuracy=accuracy)
        print(f"test accuracy {accuracy:.4f}; model in {output}", flush=True)


if __name__ == "__main__":
    try:
        train(parse_arguments())
    except Exception:
        # DGL waits at exit for all other processes; one that failed must not wait, or nobody hears of it
        import traceback

        traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)

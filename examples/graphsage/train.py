# SPDX-License-Identifier: Apache-2.0
"""GraphSAGE over all Workers: the same program is DGL's server (DGL_ROLE=server) and a trainer.

Trained files go to $DGLJOB_OUTPUT_DIR: model.pt, metrics.json, and after every epoch checkpoint.pt, from
which a later attempt of the same job goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from pathlib import Path

import dgl
import torch
from dgl.dataloading import DistNodeDataLoader, NeighborSampler
from dgl.nn import SAGEConv
from dglrun import report
from torch import distributed, nn
from torch.nn import functional


class GraphSage(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([SAGEConv(features, hidden, "mean"), SAGEConv(hidden, classes, "mean")])

    def forward(self, blocks, x):
        first, second = self.layers
        return second(blocks[1], functional.relu(first(blocks[0], x)))


class Checkpoint:
    """What a later attempt goes on from; only rank 0 keeps it."""

    def __init__(self, output: Path, graph: str) -> None:
        self.path = output / "checkpoint.pt"
        self.job = f"{os.environ.get('DGLJOB_UID', '')}/{graph}"

    def load(self, model, optimizer) -> int:
        """The epoch to go on with in all ranks: 0 unless there is a checkpoint of this job."""
        saved = [torch.load(self.path) if distributed.get_rank() == 0 and self.path.exists() else None]
        distributed.broadcast_object_list(saved, 0)
        if saved[0] is None or saved[0]["job"] != self.job:
            return 0
        model.load_state_dict(saved[0]["model"])
        optimizer.load_state_dict(saved[0]["optimizer"])
        print(f"going on from the checkpoint of epoch {saved[0]['epoch']}", flush=True)
        return saved[0]["epoch"] + 1

    def save(self, epoch: int, model, optimizer) -> None:
        state = {"job": self.job, "epoch": epoch}
        save(self.path, dict(state, model=model.state_dict(), optimizer=optimizer.state_dict()))


def save(path: Path, content) -> None:
    """Whole or not at all: a killed trainer leaves the file of before."""
    half = path.with_suffix(".tmp")
    torch.save(content, half)
    half.replace(path)


def train_epoch(model, graph, loader, optimizer) -> tuple[float, int]:
    """Mean loss of this trainer and how many nodes it saw."""
    total, steps, seen = 0.0, 0, 0
    with model.join():  # trainers may have unequal numbers of batches
        for inputs, seeds, blocks in loader:
            output = model(blocks, graph.ndata["feat"][inputs])
            loss = functional.cross_entropy(output, graph.ndata["label"][seeds].long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, steps, seen = total + loss.item(), steps + 1, seen + len(seeds)
    return total / max(1, steps), seen


def evaluate(model, graph, loader) -> float:
    """Accuracy over the test nodes of all parts."""
    model.eval()
    counts = torch.zeros(2)
    with torch.no_grad():
        for inputs, seeds, blocks in loader:
            guess = model(blocks, graph.ndata["feat"][inputs]).argmax(1)
            counts += torch.tensor([(guess == graph.ndata["label"][seeds].long()).sum(), len(seeds)])
    model.train()
    distributed.all_reduce(counts)
    return float(counts[0] / counts[1])


def make_loaders(graph, batch_size: int):
    """Batches of this trainer's share of the training and of the test nodes."""
    book, sampler = graph.get_partition_book(), NeighborSampler([10, 10])
    train_nodes = dgl.distributed.node_split(graph.ndata["train_mask"], book, force_even=True)
    test_nodes = dgl.distributed.node_split(graph.ndata["test_mask"], book, force_even=True)
    print(f"{len(train_nodes)} training and {len(test_nodes)} test nodes", flush=True)
    train_loader = DistNodeDataLoader(graph, train_nodes, sampler, batch_size=batch_size, shuffle=True)
    test_loader = DistNodeDataLoader(graph, test_nodes, sampler, batch_size=256, shuffle=False)
    return train_loader, test_loader


def run_epoch(epoch: int, arguments, *, model, graph, loaders, optimizer) -> dict:
    """One epoch; what is worth reporting about it."""
    began, rank = time.monotonic(), distributed.get_rank()
    fail_if_told(arguments, epoch, rank)
    loss, seen = train_epoch(model, graph, loaders[0], optimizer)
    accuracy = evaluate(model.module, graph, loaders[1])
    speed = seen * distributed.get_world_size() / (time.monotonic() - began)
    print(f"rank {rank} epoch {epoch} loss {loss:.4f} test accuracy {accuracy:.4f}", flush=True)
    time.sleep(max(0.0, arguments.epoch_seconds - (time.monotonic() - began)))
    return {
        "epoch": f"{epoch + 1}/{arguments.epochs}",
        "loss": loss,
        "testAccuracy": accuracy,
        "samplesPerSecond": int(speed),
    }


def train(arguments: argparse.Namespace) -> None:
    config = os.environ["DGL_CONF_PATH"]
    name = json.loads(Path(config).read_text())["graph_name"]
    dgl.distributed.initialize(os.environ["DGL_IP_CONFIG"])  # a server never returns from here
    distributed.init_process_group("gloo")
    graph = dgl.distributed.DistGraph(name, part_config=config)
    torch.manual_seed(0)
    classes = int(graph.ndata["label"][0 : graph.num_nodes()].max()) + 1
    bare = GraphSage(graph.ndata["feat"].shape[1], arguments.hidden, classes)
    optimizer = torch.optim.Adam(bare.parameters(), arguments.learning_rate)
    output = Path(os.environ.get("DGLJOB_OUTPUT_DIR", "."))
    checkpoint = Checkpoint(output, name)
    first = checkpoint.load(bare, optimizer)
    model = nn.parallel.DistributedDataParallel(bare)
    loaders = make_loaders(graph, arguments.batch_size)

    began, rank, said = time.monotonic(), distributed.get_rank(), {}
    for epoch in range(first, arguments.epochs):
        said = run_epoch(epoch, arguments, model=model, graph=graph, loaders=loaders, optimizer=optimizer)
        if rank == 0:
            checkpoint.save(epoch, bare, optimizer)
            pace = (time.monotonic() - began) / (epoch + 1 - first)
            left = arguments.epochs - epoch - 1
            report(100 * (epoch + 1) / arguments.epochs, remaining_seconds=pace * left, **said)
    said["testAccuracy"] = evaluate(bare, graph, loaders[1])
    if rank == 0:
        save(output / "model.pt", bare.state_dict())
        (output / "metrics.json").write_text(json.dumps({"graph": name, **said}))
        report(100, remaining_seconds=0, **said)
        print(f"test accuracy {said['testAccuracy']:.4f}; model in {output / 'model.pt'}", flush=True)


def fail_if_told(arguments: argparse.Namespace, epoch: int, rank: int) -> None:
    """For tests of what happens then: end as a crash does, at once."""
    early = int(os.environ.get("DGLJOB_ATTEMPT", "1")) <= arguments.fail_attempts
    if epoch == arguments.fail_at_epoch and rank == arguments.fail_rank and early:
        print(f"rank {rank} fails in epoch {epoch}, as it was told to", flush=True)
        os._exit(arguments.fail_code)


def parse_arguments() -> argparse.Namespace:
    """Every option may also come as an environment variable: --fail-rank as FAIL_RANK."""
    parser = argparse.ArgumentParser(description="GraphSAGE over all Workers")
    options = {
        "--epochs": (10, ""),
        "--batch-size": (32, ""),
        "--hidden": (64, ""),
        "--learning-rate": (1e-2, ""),
        "--epoch-seconds": (0.0, "an epoch takes at least so long, so that a test can break something in it"),
        "--fail-at-epoch": (-1, "the epoch in which one trainer fails"),
        "--fail-rank": (0, "which trainer that is"),
        "--fail-code": (1, "its exit code"),
        "--fail-attempts": (1_000_000, "it fails in that many attempts, later ones go through"),
    }
    for option, (value, text) in options.items():
        name = option[2:].replace("-", "_").upper()
        kind = type(value)
        parser.add_argument(option, type=kind, default=kind(os.environ.get(name, value)), help=text)
    return parser.parse_args()


if __name__ == "__main__":
    try:
        train(parse_arguments())
    except Exception:  # noqa: BLE001
        # a process that failed must not wait for the others at its exit, as DGL does, or nobody hears of it
        traceback.print_exc()
        sys.stdout.flush()
        os._exit(1)

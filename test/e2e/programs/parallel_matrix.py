# SPDX-License-Identifier: Apache-2.0
"""Parts made by several processes, of one pod and as Workers: compared with the graph, and loaded by DGL.

Prints one line of JSON: what is wrong, by case. The last are the parts that it leaves for the job.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DGLRUN = os.environ["DGLJOB_ZIPAPP"]
os.environ["DGL_DIST_DEBUG"] = "1"  # DGL itself checks its ranges when it loads a part

import dgl  # noqa: E402
import numpy as np  # noqa: E402
from dglrun.assemble.copied import write_chunked  # noqa: E402
from dglrun.compare.command import compare  # noqa: E402
from dglrun.compare.findings import Findings  # noqa: E402
from dglrun.env import Env  # noqa: E402
from dglrun.inputs.arrays import ArraysSource  # noqa: E402
from dglrun.inputs.dataset import open_dataset  # noqa: E402
from dglrun.inputs.synthetic import synthetic_hetero  # noqa: E402

# parts, processes, method
IN_ONE_POD = [(1, 1, "random"), (2, 2, "metis"), (3, 2, "parallel"), (4, 3, "random"), (2, 2, "given")]
AS_WORKERS = [(2, "parallel"), (3, "random")]


def homogeneous() -> ArraysSource:
    """Directed, with parallel edges and loops, masks on nodes and edges; ten nodes without edges."""
    random = np.random.default_rng(7)
    etype = ("_N", "_E", "_N")
    data = {
        ("_N", "feat"): random.random((400, 5)).astype("float32"),
        ("_N", "train_mask"): random.random(400) < 0.3,
        (etype, "weight"): random.random((4000, 2)),
        (etype, "seen"): random.random(4000) < 0.5,
    }
    ends = random.integers(0, 390, (2, 4000))
    return ArraysSource("homogeneous", {"_N": 400}, {etype: (ends[0], ends[1])}, data)


def few() -> ArraysSource:
    """Three nodes of one type among many of another, three edges of one type, none of another."""
    random = np.random.default_rng(8)
    wrote, cites, read = (
        ("person", "wrote", "paper"),
        ("paper", "cites", "paper"),
        ("person", "read", "paper"),
    )
    none = np.empty(0, np.int64)
    edges = {
        wrote: (random.integers(0, 50, 99), random.integers(0, 3, 99)),
        cites: (np.array([0, 1, 1]), np.array([1, 1, 2])),
        read: (none, none),
    }
    data = {
        ("paper", "mask"): np.array([True, False, True]),
        (wrote, "weight"): random.random((99, 1)),
        (read, "stars"): np.empty((0, 2), "int32"),
    }
    return ArraysSource("few", {"person": 60, "paper": 3}, edges, data)


def run(*arguments: str, **settings: object) -> subprocess.Popen:
    env = {**os.environ, **{f"DGLJOB_{name}": str(value) for name, value in settings.items()}}
    return subprocess.Popen([sys.executable, DGLRUN, *arguments], env=env, stdout=sys.stderr)


def in_one_pod(data: Path, folder: Path, case: tuple, **more: object) -> None:
    parts, processes, method = case
    settings = {
        "PARTS_DIR": folder,
        "NUM_PARTS": parts,
        "PARTITION_PROCESSES": processes,
        "PART_METHOD": method,
    }
    ended = run("partition-parallel", **settings, DATASET_URL=f"file://{data}", **more).wait()
    assert ended == 0, f"{case} ended with {ended}"


def as_workers(data: Path, folder: Path, case: tuple) -> None:
    """Each Worker has a folder of its own; all parts are put together at last."""
    workers, method = case
    homes = [Path(tempfile.mkdtemp()) for _ in range(workers)]
    shape = {
        "NUM_PARTS": workers,
        "NUM_WORKERS": workers,
        "RENDEZVOUS_HOST": "127.0.0.1",
        "PART_METHOD": method,
    }
    running = [
        run("assemble", **shape, PARTS_DIR=home / "parts", REPLICA_INDEX=index, POD_NAME=f"pod-{index}",
            POD_IP=f"127.0.0.{index + 1}", TERMINATION_LOG=home / "words", DATASET_URL=f"file://{data}")
        for index, home in enumerate(homes)
    ]  # fmt: skip
    assert [each.wait() for each in running] == [0] * workers
    assert len({(home / "words").read_text() for home in homes}) == 1, "manifests differ"
    for index, home in enumerate(homes):
        assert [each.name for each in (home / "parts").glob("part*")] == [f"part{index}"]
        shutil.copytree(home / "parts", folder, dirs_exist_ok=True)
        shutil.rmtree(home)


def problems(source: object, folder: Path, parts: int) -> list:
    findings = Findings()
    compare(source, str(folder), findings)
    config = next(each for each in folder.glob("*.json") if not each.name.startswith("dglrun"))
    for part in range(parts):
        dgl.distributed.load_partition(str(config), part)
    return findings.sentences


def cases(source: ArraysSource, scratch: Path):
    """(the case, what makes its parts)."""
    data = scratch / "data"
    data.mkdir()
    write_chunked(source, str(data))
    ids = scratch / "ids"
    ids.mkdir()
    for ntype, count in source.schema.ntypes.items():
        (ids / f"{ntype}.txt").write_text("".join(f"{n % 2}\n" for n in range(count)))
    for case in IN_ONE_POD:
        yield case, lambda folder, case=case: in_one_pod(data, folder, case, PART_IDS=ids)
    for workers in AS_WORKERS:
        yield workers, lambda folder, case=workers: as_workers(data, folder, case)
    saved = scratch / f"{source.schema.graph}.dgl"
    dgl.save_graphs(str(saved), [source.to_graph()])
    yield (2, 2, "parallel", "dgl"), lambda folder: in_one_pod(saved, folder, (2, 2, "parallel"))


def main() -> None:
    found = {}
    for source in (homogeneous(), synthetic_hetero(400), few()):
        with tempfile.TemporaryDirectory() as scratch:
            for case, make in cases(source, Path(scratch)):
                folder = Path(tempfile.mkdtemp())
                make(folder)
                name = " ".join(map(str, (source.schema.graph, *case)))
                found[name] = problems(source, folder, case[0])
                sys.stderr.write(f"{name}: {found[name]}\n")
                shutil.rmtree(folder)
    assert run("partition-parallel", DATASET_NAME="digits", PARTITION_PROCESSES=2).wait() == 0
    digits = open_dataset(Env({"DGLJOB_DATASET_NAME": "digits"}))
    found["digits"] = problems(digits, Path(os.environ["DGLJOB_PARTS_DIR"]), 2)
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

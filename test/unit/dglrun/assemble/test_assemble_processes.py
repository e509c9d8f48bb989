# SPDX-License-Identifier: Apache-2.0
"""`partition` by several processes of one pod, to its end; DGL is a stand-in."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dglop.dglrun import contract
from dglop.dglrun.assemble.copied import write_chunked
from dglop.dglrun.manifest import load_manifest, verify_files
from test.unit.dglrun.assemble.assemble_graphs import people
from test.unit.dglrun.assemble.assemble_pods import standin_environment
from test.unit.dglrun.dglrun_builders import run

pytestmark = pytest.mark.scripted


@pytest.mark.parametrize(("parts", "processes"), [(3, 2), (2, 2), (2, 5)])
def test_several_processes_of_one_pod_leave_parts_that_the_manifest_vouches_for(
    tmp_path: Path, dataset: str, parts: int, processes: int
) -> None:
    more = {
        contract.ENV_PARTITION_MODE: "SMP",
        contract.ENV_PARTITION_PROCESSES: str(processes),
        contract.ENV_NUM_PARTS: str(parts),
        contract.ENV_PART_METHOD: "parallel",
    }
    code, words = run(standin_environment(tmp_path, dataset, **more), "partition")
    assert code == 0
    manifest = load_manifest(str(tmp_path / "parts"))
    assert manifest is not None
    verify_files(str(tmp_path / "parts"), list(manifest.files))
    assert (words["nodes"], words["edges"], words["parts"], words["manifest"]) == (
        29,
        109,
        parts,
        manifest.hash,
    )
    assert words["seconds"] > 0
    assert words["peakBytes"] > 1 << 20
    assert manifest.part_method == "parallel"
    stats = json.loads((tmp_path / "parts" / contract.STATS_FILE).read_text())
    assert stats["processes"] == min(parts, processes)
    assert {Path(file.path).name for file in manifest.of_part(1)} == {
        "graph.json", "graph.dgl", "node_feat.dgl", "edge_feat.dgl", "orig_nids.dgl", "orig_eids.dgl",
    }  # fmt: skip


def test_a_process_that_is_killed_ends_the_others_and_is_the_one_named(tmp_path: Path, dataset: str) -> None:
    os.mkfifo(tmp_path / "hold")
    more = {contract.ENV_PARTITION_MODE: "SMP", contract.ENV_PARTITION_PROCESSES: "2"}
    env = standin_environment(tmp_path, dataset, **more) | {"TEST_HOLD": str(tmp_path / "hold")}
    argv = [sys.executable, "-m", "dglop.dglrun", "partition"]
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            # both are about to write then, and wait for the pipe
            if b"process 1 of 2 exchanged" in line:
                break
        os.kill(_of_rank(1, tmp_path), signal.SIGKILL)
        rest = process.stdout.read().decode()
    assert process.returncode == 137, rest
    words = json.loads((tmp_path / "termination-log").read_text())
    assert (words["cause"], words["process"]) == ("self", "partition")
    assert words["lines"][-1].endswith("process-1 was killed by signal 9")
    assert not _left(tmp_path), "a process was left behind"


def _left(tmp_path: Path) -> list[tuple[int, bytes]]:
    """(pid, environment) of what was started for this test and works on parts."""
    found = []
    mark = f"{contract.ENV_PARTS_DIR}={tmp_path / 'parts'}\0".encode()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            text = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
            if mark in text and b"DGLJOB_ASSEMBLE_ORDERS=" in text:
                found.append((int(entry.name), text))
    return found


def _of_rank(rank: int, tmp_path: Path) -> int:
    return next(pid for pid, text in _left(tmp_path) if b'"rank": %d' % rank in text)


def test_a_folder_that_is_no_graph_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_chunked(people(), str(tmp_path / "data"))
    (tmp_path / "data" / "metadata.json").write_text('{"graph_name": "g"}')
    more = {contract.ENV_PARTITION_MODE: "SMP", contract.ENV_PARTITION_PROCESSES: "2"}
    code, words = run(standin_environment(tmp_path, f"file://{tmp_path / 'data'}", **more), "partition")
    assert code == contract.EXIT_CONFIG
    assert "metadata.json has no node_type" in words["lines"][-1]

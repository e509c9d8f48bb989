# SPDX-License-Identifier: Apache-2.0
"""`partition`: what the user's command left is checked, vouched for and found again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dglrun import contract
from dglop.dglrun.layout import LayoutError, clear_parts, read_layout
from dglop.dglrun.manifest import Manifest, ManifestError, load_manifest, verify_files
from test.unit.dglrun.dglrun_builders import UID, environment, partitioned, run, write_dgl_parts

if TYPE_CHECKING:
    from pathlib import Path


def test_the_manifest_names_every_file_of_every_part_and_vouches_for_them(tmp_path: Path) -> None:
    words = partitioned(tmp_path)
    manifest = load_manifest(str(tmp_path / "parts"))
    assert manifest is not None
    assert words == {
        "manifest": manifest.hash,
        "parts": 2,
        "bytes": manifest.total_bytes,
        "nodes": 1797,
        "edges": 24680,
        "reused": False,
    }
    assert manifest.job_uid == UID
    assert [file.path for file in manifest.of_part(1)] == [
        "digits.json",
        "part1/edge_feat.dgl",
        "part1/graph.dgl",
        "part1/node_feat.dgl",
    ]
    verify_files(str(tmp_path / "parts"), list(manifest.files))


def test_two_partitionings_of_the_same_graph_never_have_the_same_hash(tmp_path: Path) -> None:
    first = partitioned(tmp_path)
    clear_parts(str(tmp_path / "parts"))
    assert partitioned(tmp_path)["manifest"] != first["manifest"]


def test_a_restarted_partitioner_finds_its_parts_and_runs_nothing(tmp_path: Path) -> None:
    first = partitioned(tmp_path)
    code, words = run(environment(tmp_path), "partition", "--", "/no/such/program")
    assert (code, words) == (0, first | {"reused": True})


@pytest.mark.parametrize(
    "spoil",
    [
        lambda parts: (parts / "part1" / "graph.dgl").write_bytes(b"short"),
        lambda parts: (parts / "part1" / "graph.dgl").unlink(),
        lambda parts: (parts / contract.MANIFEST_FILE).write_text("{"),
        lambda parts: (parts / contract.MANIFEST_FILE).unlink(),
    ],
)
def test_parts_that_are_not_whole_are_made_again(tmp_path: Path, spoil: Any) -> None:
    first = partitioned(tmp_path)
    spoil(tmp_path / "parts")
    again = partitioned(tmp_path)
    assert again["reused"] is False
    assert again["manifest"] != first["manifest"]


def test_whole_parts_are_made_again_where_the_job_does_not_retain_them(tmp_path: Path) -> None:
    first = partitioned(tmp_path)
    again = partitioned(tmp_path, **{contract.ENV_RETAIN_PARTS: "0"})
    assert again["reused"] is False
    assert again["manifest"] != first["manifest"]


def test_parts_of_another_job_or_another_number_are_made_again(tmp_path: Path) -> None:
    partitioned(tmp_path)
    assert partitioned(tmp_path, **{contract.ENV_JOB_UID: "other"})["reused"] is False
    fewer = partitioned(tmp_path, **{contract.ENV_JOB_UID: "other", contract.ENV_NUM_PARTS: "1"})
    assert (fewer["reused"], fewer["parts"]) == (False, 1)
    assert not (tmp_path / "parts" / "part1").exists()


def test_leftovers_are_cleared_but_not_what_the_user_put_there(tmp_path: Path) -> None:
    write_dgl_parts(tmp_path, 3)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "settings.json").write_text('{"mine": 1}')
    (tmp_path / "partners").mkdir()
    assert clear_parts(str(tmp_path)) == ["digits.json", "part0", "part1", "part2"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["notes.txt", "partners", "settings.json"]


def test_a_command_that_fails_passes_its_code_and_last_lines_on(tmp_path: Path) -> None:
    program = "import sys; [print('line', n) for n in range(50)]; sys.exit(7)"
    code, words = run(environment(tmp_path), "partition", "--", sys.executable, "-c", program)
    assert code == 7
    assert words["lines"] == [f"line {number}" for number in range(30, 50)]
    assert (words["cause"], words["process"], words["exitCode"]) == ("self", "partition", 7)


def test_a_command_that_is_killed_gives_128_and_the_signal(tmp_path: Path) -> None:
    program = "import os; os.kill(os.getpid(), 9)"
    code, words = run(environment(tmp_path), "partition", "--", sys.executable, "-c", program)
    assert (code, words["exitCode"], words["signal"]) == (137, 137, 9)


def test_a_command_that_leaves_nothing_is_a_mistake_in_the_job(tmp_path: Path) -> None:
    code, words = run(environment(tmp_path), "partition", "--", "true")
    assert (code, words["reason"]) == (contract.EXIT_CONFIG, "PartitionInvalid")
    assert contract.ENV_PARTS_DIR in words["lines"][0]


def test_without_command_and_dataset_the_message_says_what_to_give(tmp_path: Path) -> None:
    code, words = run(environment(tmp_path), "partition")
    assert (code, words["process"]) == (contract.EXIT_CONFIG, "config")
    assert "dataset" in words["lines"][0]


def test_an_unknown_dataset_is_named_by_the_built_in_partition(tmp_path: Path) -> None:
    code, words = run(environment(tmp_path, **{contract.ENV_DATASET_NAME: "cora"}), "partition")
    assert (code, words["process"]) == (contract.EXIT_CONFIG, "partition")
    assert "knows digits and synthetic" in words["lines"][-1]


def test_a_partition_told_to_stop_ends_its_command(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "started")
    program = f"import signal; open({str(tmp_path / 'started')!r}, 'w').close(); signal.pause()"
    argv = [sys.executable, "-m", "dglop.dglrun", "partition", "--", sys.executable, "-c", program]
    env = environment(tmp_path, PYTHONPATH=os.pathsep.join(sys.path))
    with subprocess.Popen(argv, env=env) as process:
        (tmp_path / "started").read_text()
        process.send_signal(signal.SIGTERM)
    words = json.loads((tmp_path / "termination-log").read_text())
    assert (process.returncode, words["cause"]) == (contract.EXIT_PEER, "stop")
    assert not (tmp_path / "parts" / contract.MANIFEST_FILE).exists()


def test_the_number_of_cut_edges_is_told_where_the_command_says_it(tmp_path: Path) -> None:
    program = "from test.unit.dglrun.dglrun_builders import *; import os; "
    program += "p = Path(os.environ['DGLJOB_PARTS_DIR']); "
    program += "write_dgl_parts(p); (p / 'dglrun-stats.json').write_text('{\"edgeCut\": 304}')"
    env = environment(tmp_path)
    assert run(env, "partition", "--", sys.executable, "-c", program)[1]["edgeCut"] == 304


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"num_parts": 3}, "describes parts"),
        ({"part-1": {"part_graph": "/etc/passwd"}}, "must be relative"),
        ({"part-1": {"part_graph": "../secret"}}, "must be relative"),
        ({"part-1": {"part_graph": "part1/none.dgl"}}, "does not exist"),
        ({"part-1": 3}, "must be a path"),
        ({"num_nodes": "many"}, "not a partition config"),
    ],
)
def test_a_config_that_cannot_be_used_is_refused_with_the_cause(
    tmp_path: Path, changes: dict[str, Any], text: str
) -> None:
    write_dgl_parts(tmp_path, **changes)
    with pytest.raises(LayoutError, match=text):
        read_layout(str(tmp_path))


def test_a_wrong_number_of_parts_is_refused_with_both_numbers(tmp_path: Path) -> None:
    write_dgl_parts(tmp_path, 3)
    with pytest.raises(LayoutError, match="has 3 parts, the job has 2 Workers"):
        read_layout(str(tmp_path), 2)


def test_counts_by_type_are_added_up(tmp_path: Path) -> None:
    write_dgl_parts(tmp_path, num_nodes={"user": 3, "item": 4}, num_edges={"buys": 5})
    layout = read_layout(str(tmp_path))
    assert (layout.num_nodes, layout.num_edges) == (7, 5)


def test_a_manifest_that_was_changed_is_not_believed(tmp_path: Path) -> None:
    partitioned(tmp_path)
    path = tmp_path / "parts" / contract.MANIFEST_FILE
    data = json.loads(path.read_text())
    for change in (
        {"numParts": 3},
        {"version": 2},
        {"files": [{"path": "../x"}]},
    ):
        with pytest.raises(ManifestError):
            Manifest.from_json(data | change)

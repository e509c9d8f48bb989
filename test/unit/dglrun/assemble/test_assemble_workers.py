# SPDX-License-Identifier: Apache-2.0
"""`assemble` by the Workers of a job, to its end; DGL is a stand-in."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dglrun import contract
from dglop.dglrun.manifest import load_manifest, verify_files
from test.unit.dglrun.assemble.assemble_pods import Pods, free_pair, standin_environment
from test.unit.dglrun.dglrun_builders import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.scripted


def test_workers_make_a_part_each_and_all_leave_the_same_manifest(pods: Callable[..., Pods]) -> None:
    gang = pods(3).start()
    ends = gang.ends()
    assert [code for code, _ in ends] == [0, 0, 0], [(folder / "log").read_text() for folder in gang.folders]
    words = ends[0][1]
    assert ends == [(0, words)] * 3
    assert (words["parts"], words["nodes"], words["edges"], words["reused"]) == (3, 29, 109, False)
    for index in range(3):
        manifest = load_manifest(str(gang.parts(index)))
        assert manifest is not None
        assert manifest.hash == words["manifest"]
        verify_files(str(gang.parts(index)), manifest.of_part(index))
        assert [path.name for path in gang.parts(index).glob("part*")] == [f"part{index}"]


def test_parts_that_all_have_are_kept_and_if_one_lacks_its_own_all_make_them_anew(
    pods: Callable[..., Pods],
) -> None:
    gang = pods(2)
    first = gang.start().ends()[0][1]
    assert gang.start().ends() == [(0, first | {"reused": True})] * 2
    (gang.parts(1) / "part1" / "graph.dgl").write_bytes(b"spoilt")
    again = gang.start().ends()
    assert again[0] == again[1]
    assert again[0][1]["reused"] is False
    assert again[0][1]["manifest"] != first["manifest"]
    asked = gang.start(**{contract.ENV_RETAIN_PARTS: "0"}).ends()
    assert asked[0][1]["reused"] is False


def test_on_a_claim_all_parts_lie_in_one_folder_under_one_manifest(tmp_path: Path, pods: Any) -> None:
    gang = pods(3, **{contract.ENV_PARTS_DIR: str(tmp_path / "claim")})
    # what an earlier job has left there
    (tmp_path / "claim" / "part7").mkdir(parents=True)
    assert [code for code, _ in gang.start().ends()] == [0, 0, 0]
    manifest = load_manifest(str(tmp_path / "claim"))
    assert manifest is not None
    verify_files(str(tmp_path / "claim"), list(manifest.files))
    names = sorted(path.name for path in (tmp_path / "claim").iterdir())
    ours = [contract.MANIFEST_FILE, contract.STATS_FILE]
    assert names == [*ours, "graph.json", "part0", "part1", "part2"]
    assert gang.start().ends()[2][1]["reused"] is True


def _holding(gang: Pods, tmp_path: Path) -> Pods:
    """Started, all at the point where they write."""
    os.mkfifo(tmp_path / "hold")
    gang.start(TEST_HOLD=str(tmp_path / "hold"))
    for folder, process in zip(gang.folders, gang.processes, strict=True):
        while b"exchanged edges" not in (folder / "log").read_bytes():
            assert process.poll() is None
    return gang


def test_a_worker_whose_process_is_killed_is_the_cause_and_its_peer_ends_because_of_it(
    tmp_path: Path, pods: Callable[..., Pods]
) -> None:
    gang = _holding(pods(2), tmp_path)
    os.kill(gang.child(1), signal.SIGKILL)
    (peer_code, peer), (code, words) = gang.ends()
    assert (code, words["cause"], words["process"], words["signal"]) == (137, "self", "assemble", 9)
    assert peer_code == contract.EXIT_PEER
    assert peer.items() >= {"cause": "peer", "pod": "job-worker-1", "exitCode": 137}.items()
    assert load_manifest(str(gang.parts(0))) is None, "half a partitioning is vouched for"


def test_a_worker_that_is_lost_or_told_to_stop_ends_the_others_as_peers(
    tmp_path: Path, pods: Callable[..., Pods]
) -> None:
    gang = _holding(pods(2), tmp_path)
    gang.processes[1].terminate()
    (peer_code, peer), (code, words) = gang.ends()
    assert (code, words["cause"], words["signal"]) == (contract.EXIT_PEER, "stop", 15)
    assert (peer_code, peer["reason"]) == (contract.EXIT_PEER, "PeerStopped")


def test_a_mistake_of_the_job_is_said_once_and_is_final(pods: Callable[..., Pods]) -> None:
    gang = pods(2, **{contract.ENV_PART_METHOD: "metis"}).start()
    ends = sorted(gang.ends(), key=lambda end: end[0])
    assert [code for code, _ in ends] == [contract.EXIT_CONFIG, contract.EXIT_PEER]
    assert ends[0][1]["reason"] == "ConfigInvalid"
    assert ends[0][1]["lines"][0].startswith("partitioning by metis needs all edges in one pod")


def test_workers_that_never_come_are_missed_and_the_attempt_may_be_tried_again(
    tmp_path: Path, dataset: str
) -> None:
    more = {
        contract.ENV_POD_IP: "127.0.0.1",
        contract.ENV_ASSEMBLE_PORT: str(free_pair()),
        contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS: "0.5",
    }
    code, words = run(standin_environment(tmp_path, dataset, **more), "assemble")
    assert (code, words["reason"]) == (contract.EXIT_RETRYABLE, "PeersMissing")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        ({contract.ENV_DATASET_URL: "file:///no/such/place"}, "does not exist in the pod"),
        ({contract.ENV_DATASET_URL: "s3://bucket/graph"}, "reads file:///…"),
        ({contract.ENV_DATASET_URL: f"file://{__file__}"}, "which is only read whole"),
        ({contract.ENV_NUM_PARTS: "3"}, "with partitionMode MSP every Worker makes one part"),
    ],
)
def test_what_cannot_be_is_refused_before_anybody_works(
    tmp_path: Path, dataset: str, spoil: dict[str, str], sentence: str
) -> None:
    more = {
        contract.ENV_POD_IP: "127.0.0.1",
        contract.ENV_ASSEMBLE_PORT: str(free_pair()),
        contract.ENV_NUM_WORKERS: "1",
        contract.ENV_NUM_PARTS: "1",
        **spoil,
    }
    code, words = run(standin_environment(tmp_path, dataset, **more), "assemble")
    assert (code, words["reason"]) == (contract.EXIT_CONFIG, "ConfigInvalid")
    assert sentence in words["lines"][0]

# SPDX-License-Identifier: Apache-2.0
"""What the demo says: progress, the end, a failure, and a machine that cannot run it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hack import demo, stack, test
from hack.stack import Stack

_STACK = Stack(
    kubeconfig=Path("/tmp/kubeconfig"), kubectl=Path("/tmp/kubectl"), operator_image="o", dgl_image="d"
)
_METRICS = {"epoch": "4/10", "loss": "0.259532", "testAccuracy": "0.961", "samplesPerSecond": "425"}


def _status(percent: int) -> dict[str, Any]:
    metrics = [{"name": name, "value": value} for name, value in _METRICS.items()]
    return {"phase": "Training", "trainer": {"progressPercentage": percent, "metrics": metrics}}


def test_progress_is_one_short_line_with_epoch_loss_and_pace() -> None:
    assert demo._progress(_status(40)) == "epoch 4/10  loss 0.259  ████░░░░░░  425 samples/s"


def test_progress_before_the_first_report_is_an_empty_bar() -> None:
    assert demo._progress({"phase": "Training"}) == "░░░░░░░░░░"


def test_the_end_names_accuracy_volume_and_file() -> None:
    spec = {"output": {"claimName": "digits-model", "subPath": "digits"}}
    words = demo._conclusion({"spec": spec, "status": _status(100)}, 61.0)
    assert "test accuracy 0.961 · model in volume digits-model, file digits/model.pt · 61 s" in words
    *_, first, middle, last = words.splitlines()
    assert (first, last) == ('    eval "$(make -s env)"', "    make down")
    assert middle == "    kubectl -n dglop-demo get dgljobs"


def test_a_failure_says_cause_last_lines_and_what_to_type() -> None:
    status = {
        "conditions": [{"type": "Failed", "reason": "DGLJobFailed", "message": "digits-worker-1: trainer-0"}],
        "lastFailure": {"podName": "digits-worker-1", "message": "one\ntwo"},
    }
    words = demo._failure({"metadata": {"name": "digits"}, "status": status})
    assert words.startswith("DGLJobFailed: digits-worker-1: trainer-0")
    assert "    two" in words
    assert "kubectl -n dglop-demo logs digits-worker-1" in words


@pytest.mark.parametrize("entry", [demo.main, stack.main], ids=["demo", "up"])
def test_a_machine_that_cannot_run_a_cluster_is_told_so_in_a_sentence(
    entry: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DGLOP_PROVIDER", "nonsense")
    assert entry() == 1
    said = "".join(capsys.readouterr())
    assert "DGLOP_PROVIDER" in said
    assert "Traceback" not in said


def test_a_class_of_tests_that_cannot_be_prepared_counts_as_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DGLOP_PROVIDER", "nonsense")
    monkeypatch.setattr("sys.argv", ["make test", "e2e"])
    assert test.main() == 1
    assert "e2e tests cannot run" in capsys.readouterr().out


def test_a_restart_is_told_by_the_pod_that_failed() -> None:
    assert demo._waiting({"phase": "Restarting", "lastFailure": {"podName": "p-0"}}) == "restarting after p-0"
    assert demo._waiting({"phase": "Pending"}) == "its pods start"


def test_parts_are_there_only_while_the_status_says_so() -> None:
    follower = demo.Follower(None, "digits")  # type: ignore[arg-type]
    assert not follower.has_parts
    follower.job = {"status": {"phase": "Restarting", "partition": {"state": "Failed"}}}
    assert not follower.has_parts
    follower.job = {"status": {"phase": "Pending", "partition": {"state": "Reused"}}}
    assert follower.has_parts

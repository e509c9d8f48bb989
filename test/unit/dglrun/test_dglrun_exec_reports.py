# SPDX-License-Identifier: Apache-2.0
"""launchMode Exec: what the first Worker's trainer reports comes to the operator through the Launcher."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dglrun import contract
from dglop.dglrun.ending import Refusal
from dglop.dglrun.execmode.reports import RemoteProgress, Reports
from dglop.dglrun.kube.session import Pod
from dglop.dglrun.output import Stdout
from dglop.dglrun.poster import Poster
from dglop.dglrun.progress import report
from test.unit.dglrun.dglrun_apiserver import cluster
from test.unit.dglrun.dglrun_builders import environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from test.unit.dglrun.dglrun_apiserver import Cluster

pytestmark = pytest.mark.scripted

POD = Pod("g-worker-0", container="dgl")


def say_in_worker(path: Path, percentage: float, **metrics: Any) -> None:
    report(percentage, variables={contract.PROGRESS_FILE_ENV: str(path)}, **metrics)


def test_the_last_report_is_posted_as_final_and_is_the_launchers_result(
    server: Cluster, tmp_path: Path
) -> None:
    posted: list[Mapping[str, Any]] = []
    path = tmp_path / contract.PROGRESS_NAME
    file = RemoteProgress(server.client, POD, str(path), print)
    poster = Poster(file, posted.append, print)
    say_in_worker(path, 40, loss=0.5)
    poster.start()
    say_in_worker(path, 100, loss=0.25)
    words = Reports(file, poster).finish()
    assert posted[-1]["final"] is True
    assert posted[-1]["progressPercentage"] == 100
    assert words["result"]["metrics"] == [{"name": "loss", "value": "0.25"}]
    assert {"dgl"} == {name for asked in server.asked for name in asked["container"]}


def test_each_look_reads_what_is_new_and_most_are_put_off(server: Cluster, tmp_path: Path) -> None:
    path = tmp_path / contract.PROGRESS_NAME
    file = RemoteProgress(server.client, POD, str(path), print)
    say_in_worker(path, 10, loss=0.5)
    assert file.read()
    say_in_worker(path, 20)
    assert not file.read(), "each look is an exec"
    assert len(server.asked) == 1
    file.hurry()
    assert file.read()
    assert file.latest == {"progressPercentage": 20, "metrics": [{"name": "loss", "value": "0.5"}]}
    start = server.asked[1]["command"][-1]
    assert (
        int(start)
        == len(json.dumps({"progressPercentage": 10, "metrics": [{"name": "loss", "value": "0.5"}]})) + 2
    )


def test_a_trainer_that_reports_nothing_leaves_no_result(server: Cluster, tmp_path: Path) -> None:
    file = RemoteProgress(server.client, POD, str(tmp_path / "none"), print)
    poster = Poster(file, None, print)
    poster.start()
    assert Reports(file, poster).finish() == {}


def test_reports_that_cannot_be_read_are_said_once_and_end_nothing(tmp_path: Path) -> None:
    said: list[str] = []
    with cluster(denied=500) as server:
        file = RemoteProgress(server.client, POD, str(tmp_path / "none"), said.append)
        file.hurry()
        assert not file.read()
        assert not file.read()
    assert len(said) == 1
    assert "g-worker-0: its reports cannot be read, training goes on" in said[0]


def test_nobody_looks_where_nobody_wants_to_know(tmp_path: Path) -> None:
    assert Reports.begin(environment(tmp_path), "g-worker-0", "/p", Stdout()) is None


def test_a_launcher_without_an_account_says_what_it_needs(tmp_path: Path) -> None:
    variables = environment(tmp_path, **{contract.ENV_STATUS_URL: "http://operator/"})
    with pytest.raises(Refusal, match="service account"):
        Reports.begin(variables, "g-worker-0", "/p", Stdout())

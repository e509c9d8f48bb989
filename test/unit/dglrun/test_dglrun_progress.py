# SPDX-License-Identifier: Apache-2.0
"""Progress: what a trainer may say, how it is read, and when it is posted."""

from __future__ import annotations

import json
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dglrun import contract, report
from dglop.dglrun.ending import Refusal
from dglop.dglrun.poster import Poster, Throttle
from dglop.dglrun.progress import ProgressFile, parse_report, progress

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def test_a_report_is_one_line_of_json_and_outside_of_a_job_nothing(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    env = {contract.PROGRESS_FILE_ENV: str(path)}
    assert report(40, remaining_seconds=12, variables=env, loss=0.123456789)
    assert json.loads(path.read_text()) == {
        "progressPercentage": 40,
        "estimatedRemainingSeconds": 12,
        "metrics": [{"name": "loss", "value": "0.123457"}],
    }
    assert not report(40, variables={})


def test_the_command_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    progress(["40", "12", "loss=0.12"], {contract.PROGRESS_FILE_ENV: str(path)})
    assert json.loads(path.read_text())["metrics"] == [{"name": "loss", "value": "0.12"}]
    with pytest.raises(Refusal, match="forty"):
        progress(["forty"], {})


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"progressPercentage": 140.7}', {"progressPercentage": 100}),
        ('{"progressPercentage": "40", "estimatedRemainingSeconds": 3.9}', {"estimatedRemainingSeconds": 3}),
        ('{"progressPercentage": true}', None),
        ('{"progressPercentage": NaN}', None),
        ('{"metrics": {"loss": 0.5}}', {"metrics": [{"name": "loss", "value": "0.5"}]}),
        ('{"metrics": [{"name": "a"}, 3]}', None),
        ("[1]", None),
        ("epoch 3", None),
    ],
)
def test_what_makes_no_sense_in_a_line_is_left_out(line: str, found: dict[str, Any] | None) -> None:
    assert parse_report(line) == found


def test_half_a_line_waits_for_its_rest_and_the_last_whole_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    file = ProgressFile(str(path))
    assert not file.read()
    path.write_text('{"progressPercentage": 1}\nnonsense\n{"progressPercentage": 2}\n{"progressPer')
    assert file.read()
    assert file.latest == {"progressPercentage": 2}
    with path.open("a") as more:
        more.write('centage": 3, "metrics": {"loss": 1}}\n{"progressPercentage": 4}\n')
    assert file.read()
    assert file.latest == {"progressPercentage": 4, "metrics": [{"name": "loss", "value": "1"}]}
    assert not file.read()


def test_reports_are_posted_at_most_once_in_ten_seconds_and_the_final_one_always() -> None:
    throttle = Throttle(10.0)
    times = [0.0, 1.0, 9.9, 10.0, 15.0]
    assert [throttle.may(now) for now in times] == [True, False, False, True, False]
    assert throttle.may(15.1, final=True)


def test_a_report_that_cannot_be_posted_is_said_once_and_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    said: list[str] = []

    def refuse(_: Any) -> None:
        message = "connection refused"
        raise OSError(message)

    path.write_text('{"progressPercentage": 100}\n')
    poster = Poster(ProgressFile(str(path)), refuse, said.append)
    poster.start()
    assert finished(poster, 30) == {"progressPercentage": 100}
    assert said == ["progress cannot be posted, training goes on: connection refused"]


def test_without_a_place_to_post_to_the_last_report_is_still_the_result(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    path.write_text('{"progressPercentage": 100}\n')
    poster = Poster(ProgressFile(str(path)), None, print)
    poster.start()
    assert finished(poster, 30) == {"progressPercentage": 100}


def test_a_post_that_hangs_does_not_keep_the_last_lines_from_the_result(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    path.write_text('{"progressPercentage": 91}\n')
    hangs, goes_on = Event(), Event()

    def post(_: Mapping[str, Any]) -> None:
        hangs.set()
        goes_on.wait()

    poster = Poster(ProgressFile(str(path)), post, print)
    poster.start()
    hangs.wait()
    with path.open("a") as file:
        file.write('{"progressPercentage": 100, "metrics": {"loss": 0.1}}\n')
    latest = finished(poster, 0.01)
    goes_on.set()
    assert latest == {"progressPercentage": 100, "metrics": [{"name": "loss", "value": "0.1"}]}


def finished(poster: Poster, patience: float) -> dict[str, Any]:
    """The last report without its time."""
    latest = poster.finish(patience)
    assert latest is not None
    del latest["reportTime"]
    return latest

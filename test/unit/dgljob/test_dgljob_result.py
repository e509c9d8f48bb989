# SPDX-License-Identifier: Apache-2.0
"""What a job shows of its training at the end, however many reports of it were lost."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from dglop.dgljob.report import Shown, is_outdated, parse_report, trainer_wire
from dglop.dgljob.status import TrainerStatus
from test.unit.dgljob.dgljob_world import T0, World, make_job

LAST = "2026-12-01T12:30:00.500000Z"


def result(percentage=100, loss="0.12", **more):
    metrics = [{"name": "loss", "value": loss}]
    said = {"progressPercentage": percentage, "metrics": metrics, "reportTime": LAST, **more}
    return json.dumps({"result": {key: value for key, value in said.items() if value is not None}})


def post(world, percentage, loss, at="2026-12-01T12:20:00Z", attempt=1):
    """A report reaches the operator; False where it comes too late."""
    body = {"progressPercentage": percentage, "attempt": attempt, "reportTime": at}
    body |= {"metrics": [{"name": "loss", "value": loss}], "estimatedRemainingSeconds": 30}
    report = parse_report(json.dumps(body).encode(), world.now)
    trainer = world.job.status.trainer
    shown = Shown(world.job.status.attempt, trainer and trainer.attempt, trainer and trainer.report_time)
    if is_outdated(report, shown):
        return False
    world.job.status.trainer = TrainerStatus.model_validate(trainer_wire(report, world.now))
    return True


def training():
    world = World(make_job())
    world.partition()
    world.train()
    return world


def end(world, message=""):
    world.wait(60)
    world.end("g-worker-0", message=message)
    world.end("g-worker-1", message="{}")
    world.settle()
    return shown(world)


def shown(world):
    trainer = world.job.status.trainer
    metrics = {each.name: each.value for each in trainer.metrics}
    return trainer.progress_percentage, trainer.progress, metrics, trainer.estimated_remaining_seconds


def test_the_final_figures_are_worker_0s_result_where_the_last_reports_were_lost():
    world = training()
    assert post(world, 91, "0.3")
    assert end(world, result()) == (100, "100%", {"loss": "0.12"}, None)
    trainer = world.job.status.trainer
    assert (trainer.attempt, trainer.last_updated_time) == (1, world.now)
    assert world.job.status.phase == "Completed"


def test_the_final_figures_are_there_where_no_report_ever_came():
    assert end(training(), result()) == (100, "100%", {"loss": "0.12"}, None)


def test_a_report_that_was_held_back_does_not_replace_the_result():
    world = training()
    end(world, result())
    assert not post(world, 91, "0.3")
    assert shown(world)[:2] == (100, "100%")


def test_the_result_of_an_older_dglrun_that_tells_no_time_is_shown_too():
    world = training()
    later = (T0 + timedelta(hours=9)).isoformat()
    assert post(world, 91, "0.3", at=later)
    assert end(world, result(reportTime=None)) == (100, "100%", {"loss": "0.12"}, None)
    assert world.job.status.trainer.report_time == T0 + timedelta(hours=9)


@pytest.mark.parametrize("message", ["", "{}", "done", '{"result": 5}', '{"result": {}}', result(91, "0.3")])
def test_a_completed_job_never_shows_less_than_done(message):
    world = training()
    assert post(world, 91, "0.3")
    assert end(world, message) == (100, "100%", {"loss": "0.3"}, None)


def test_a_completed_job_of_which_nothing_was_ever_said_shows_nothing():
    world = training()
    world.finish()
    assert world.job.status.phase == "Completed"
    assert world.job.status.trainer is None


def test_the_result_is_kept_where_worker_0_is_gone_before_the_job_ends():
    world = training()
    world.end("g-worker-0", message=result())
    world.settle()
    assert world.job.status.phase == "Training"
    del world.pods["g-worker-0"]
    world.end("g-worker-1", message="{}")
    world.settle()
    assert world.job.status.phase == "Completed"
    assert shown(world) == (100, "100%", {"loss": "0.12"}, None)


def test_what_is_shown_already_is_not_written_again():
    world = training()
    assert post(world, 100, "0.12", at=LAST)
    world.job.status.trainer.estimated_remaining_seconds = None
    before = world.job.status.trainer.model_copy(deep=True)
    end(world, result())
    assert world.job.status.trainer == before


def test_a_failed_job_shows_how_far_it_came():
    world = training()
    assert post(world, 91, "0.3")
    world.end("g-worker-0", code=1)
    world.settle()
    assert world.job.status.phase == "Failed"
    assert shown(world) == (91, "91%", {"loss": "0.3"}, 30)


def test_the_result_of_an_attempt_before_is_not_shown_for_this_one():
    world = training()
    world.end("g-worker-0", message=result())
    world.end("g-worker-1", code=137)
    world.step()
    assert world.job.status.attempt == 2
    assert world.job.status.trainer is None

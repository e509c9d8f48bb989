# SPDX-License-Identifier: Apache-2.0
"""launchMode Exec: one process of a launch in its Worker, and what is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from dglop.dglrun import contract
from dglop.dglrun.execmode.attend import attend as run_attended
from dglop.dglrun.samplers import Process, process_table

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.scripted

SAMPLER = """
import multiprocessing, time

if __name__ == "__main__":
    multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,), daemon=True).start()
    time.sleep(600)
"""


def attend(*command: str, **more: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "dglop.dglrun", "attend", "--", *command]
    env = {**os.environ, "DGLJOB_KILL_SECONDS": "2", **more}
    return subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True)


def test_words_and_exit_code_are_the_commands_and_its_output_ends_with_it() -> None:
    process = attend("sh", "-c", "sleep 600 & echo said; exit 7")
    assert process.communicate()[0] == "said\n", "what it had started still held its output"
    assert process.returncode == 7


def test_its_last_words_are_not_those_of_what_is_ended_after_it(tmp_path: Path) -> None:
    left = f"trap 'echo oh no; exit 1' TERM; echo > {tmp_path / 'there'}; while :; do sleep 0.1; done"
    command = f'sh -c "$0" & while [ ! -e {tmp_path / "there"} ]; do :; done; echo it broke; exit 7'
    process = attend("sh", "-c", command, left)
    assert process.communicate()[0] == "it broke\n"
    assert process.returncode == 7


def test_the_last_words_of_the_workers_own_program_are_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "termination-log"
    process = attend("false", DGLJOB_TERMINATION_LOG=str(log))
    assert process.communicate()[0] == ""
    assert process.returncode == 1
    assert not log.exists()


def test_told_to_stop_it_ends_what_it_started(tmp_path: Path) -> None:
    process = attend("sh", "-c", f"echo $$ > {tmp_path / 'pid'}; echo here; exec sleep 600")
    assert process.stdout is not None
    with process.stdout as said:
        assert said.readline() == "here\n"
    process.terminate()
    assert process.wait() == 143
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_sampler_that_is_killed_ends_its_trainer_which_would_wait_for_ever(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "train.py"
    program.write_text(SAMPLER)

    def table_then_kill() -> list[Process]:
        """Every look is followed by the end of the sampler that it has seen."""
        found = process_table()
        trainers = {each.pid for each in found if each.parent == os.getpid()}
        for each in found:
            if each.is_spawned and not each.is_zombie and each.parent in trainers:
                os.kill(each.pid, signal.SIGKILL)
        return found

    variables = {**os.environ, "DGL_NUM_SAMPLER": "1", contract.ENV_KILL_SECONDS: "2"}
    assert run_attended([sys.executable, str(program)], variables, table_then_kill) == 137
    assert "a sampler ended: exit code 137" in capfd.readouterr().out

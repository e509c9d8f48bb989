# SPDX-License-Identifier: Apache-2.0
"""What dglrun says of itself."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from dglop.dglrun import cli, contract
from test.unit.dglrun.dglrun_builders import PARTITION_COMMAND, environment, run

COMMANDS = {"partition", "partition-dataset", "serve", "fetch", "worker", "progress", "hosts"}
COMMANDS |= {"dispatch", "connect", "launch", "attend", "look", "kubectl"}  # of launchMode Exec


def test_the_usage_names_every_command(capsys) -> None:
    assert cli.main(["--help"]) == 0
    named = set(re.findall(r"^  ([a-z][a-z-]+)", capsys.readouterr().out, re.MULTILINE))
    assert named == COMMANDS


@pytest.mark.scripted
def test_what_stands_before_the_command_is_in_its_environment_and_wins(tmp_path: Path) -> None:
    env = environment(tmp_path)
    there = env.pop(contract.ENV_PARTS_DIR)
    env[contract.ENV_NUM_PARTS] = "7"
    told = [f"{contract.ENV_PARTS_DIR}={there}", f"{contract.ENV_NUM_PARTS}=2", "GREETING=a=b"]
    command = f"{PARTITION_COMMAND}\nassert os.environ['GREETING'] == 'a=b'"
    code, words = run(env, "partition", *told, "--", sys.executable, "-c", command)
    assert (code, words["parts"]) == (0, 2), words
    assert (Path(there) / "digits.json").exists()


def test_words_that_are_no_settings_are_refused_before_the_command(tmp_path: Path) -> None:
    code, words = run(environment(tmp_path), "partition", "A=1", "cut.sh", "--", "cut.sh")
    assert code == contract.EXIT_CONFIG
    assert "put -- before your command, got 'cut.sh -- cut.sh'" in words["lines"][0]

# SPDX-License-Identifier: Apache-2.0
"""What dglrun says of itself."""

from __future__ import annotations

import re

from dglop.dglrun import cli

COMMANDS = {"partition", "partition-dataset", "serve", "fetch", "worker", "progress"}


def test_the_usage_names_every_command(capsys) -> None:
    assert cli.main(["--help"]) == 0
    named = set(re.findall(r"^  ([a-z][a-z-]+)", capsys.readouterr().out, re.MULTILINE))
    assert named == COMMANDS

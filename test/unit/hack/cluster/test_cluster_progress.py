# SPDX-License-Identifier: Apache-2.0
"""How far a build of several programs has come, what stands on a narrow terminal, what a shell is told."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from hack.cluster.__main__ import exports
from hack.cluster.binaries import TOOLS
from hack.cluster.progress import Progress, Whole
from hack.cluster.report import NOTE_WIDTH, RichReport


def test_progress_tells_the_share_of_all_programs_and_at_this_pace_the_rest() -> None:
    told: list[str] = []
    now = iter([0.0, 1800.0])
    whole = Whole(20.0, done=5.0, clock=now.__next__)
    tool = TOOLS["kubernetes"]
    progress = Progress(tool, 2, told.append, whole)
    progress.line("k8s.io/api/core/v1")
    share = (5 + tool.minutes / 2) / 20
    left = 30 * (1 - share) / share
    assert told == [f"kubernetes 1/2 packages · all {share:.0%}, {left:.0f} min left"]


def test_nothing_is_foretold_before_there_is_a_pace() -> None:
    assert Whole(1000.0, clock=lambda: 0.0).words(1.0) == "all 0%"


def test_lines_of_the_go_command_that_name_no_package_are_not_counted() -> None:
    told: list[str] = []
    Progress(TOOLS["etcd"], 4, told.append, Whole(1.0)).line("go: downloading k8s.io/api v0.37.2")
    assert told == []


def test_the_longest_line_of_progress_fits_its_place() -> None:
    told: list[str] = []
    whole = Whole(12.0, done=3.0, clock=iter([0.0, 1500.0]).__next__)
    progress = Progress(TOOLS["kubernetes"], 1937, told.append, whole)
    progress._seen = 1000
    progress.line("k8s.io/api/core/v1")
    assert len(told[0]) <= NOTE_WIDTH


def test_a_command_is_never_broken_in_two_by_a_narrow_terminal() -> None:
    narrow = io.StringIO()
    command = "    kubectl --namespace " + "n" * 70 + " get dgljobs"
    RichReport(Console(file=narrow, width=80, force_terminal=True)).say(command)
    assert narrow.getvalue().splitlines() == [command]


def test_a_shell_is_told_of_a_kubectl_only_where_it_has_none() -> None:
    config, program = Path("/home/a b/kubeconfig"), Path("/home/a b/bin/kubectl")
    assert exports(config, program, "/usr/bin/kubectl") == "export KUBECONFIG='/home/a b/kubeconfig'"
    assert exports(config, program, None).splitlines()[1] == "export PATH='/home/a b/bin':\"$PATH\""

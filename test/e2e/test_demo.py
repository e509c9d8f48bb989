# SPDX-License-Identifier: Apache-2.0
"""The README's first command, run as a user runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_trains_to_the_end_and_says_what_came_of_it(stack: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hack.demo"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for stage in ("cluster", "images", "operator", "partition", "fetch", "train"):
        assert re.search(rf"✓ {stage}", done.stdout), done.stdout
    accuracy = re.search(r"test accuracy (0\.\d+)", done.stdout)
    assert accuracy is not None, done.stdout
    assert float(accuracy[1]) > 0.9
    assert "model.pt" in done.stdout
    assert "next:" in done.stdout

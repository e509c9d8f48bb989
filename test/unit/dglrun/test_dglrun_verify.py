# SPDX-License-Identifier: Apache-2.0
"""A Worker on a claim looks at its own part before it meets anybody."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from dglop.dglrun import contract
from dglop.dglrun.ending import Refusal
from dglop.dglrun.verify import verify_part
from test.unit.dglrun.dglrun_asserts import finish
from test.unit.dglrun.dglrun_builders import environment, partitioned, run
from test.unit.dglrun.dglrun_gang import Gang

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.scripted

MakeGang = Callable[..., Gang]


def verify(tmp_path: Path, latched: str | None = None) -> int:
    return verify_part(str(tmp_path / "parts"), 1, 2, latched)


def test_the_own_part_is_verified_and_nothing_is_written(tmp_path: Path) -> None:
    words = partitioned(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "parts").rglob("*")}
    # another Worker's part is that Worker's to verify
    (tmp_path / "parts" / "part0" / "graph.dgl").write_bytes(b"x")
    assert verify(tmp_path, words["manifest"]) > 0
    assert set(before) == set((tmp_path / "parts").rglob("*"))


def test_a_corrupt_or_a_wrong_part_is_refused(tmp_path: Path) -> None:
    partitioned(tmp_path)
    with pytest.raises(Refusal) as refusal:
        verify(tmp_path, "0" * 64)
    assert refusal.value.reason == "PartsChanged"
    (tmp_path / "parts" / "part1" / "graph.dgl").write_bytes(b"x")
    with pytest.raises(Refusal, match=r"part1/graph\.dgl is corrupt") as refusal:
        verify(tmp_path)
    assert (refusal.value.reason, refusal.value.exit_code) == ("PartsCorrupt", contract.EXIT_CORRUPT)


def test_parts_that_were_made_elsewhere_have_no_manifest_but_a_layout(tmp_path: Path) -> None:
    partitioned(tmp_path)
    (tmp_path / "parts" / contract.MANIFEST_FILE).unlink()
    assert verify(tmp_path) == 0
    shutil.rmtree(tmp_path / "parts" / "part0")
    with pytest.raises(Refusal, match="does not exist"):
        verify(tmp_path)


def test_a_worker_whose_part_is_corrupt_ends_before_it_meets_anybody(tmp_path: Path) -> None:
    partitioned(tmp_path)
    (tmp_path / "parts" / "part1" / "graph.dgl").write_bytes(b"x")
    more = {
        contract.ENV_VERIFY_PARTS: "1",
        contract.ENV_POD_IP: "127.0.0.2",
        contract.ENV_RENDEZVOUS_HOST: "127.0.0.1",
    }
    code, words = run(environment(tmp_path, 1, **more), "worker", "--", "/no/such/program")
    assert (code, words["reason"]) == (contract.EXIT_CORRUPT, "PartsCorrupt")
    assert "part1/graph.dgl is corrupt" in words["lines"][0]


def test_workers_that_verify_their_parts_meet_and_train(make_gang: MakeGang) -> None:
    workers = make_gang(**{contract.ENV_VERIFY_PARTS: "1"}).start()
    finish(*workers)
    assert all(f"part {index}: " in worker.log for index, worker in enumerate(workers))


def test_a_worker_that_is_told_to_stop_while_it_verifies_stops(tmp_path: Path, zipapp: Path) -> None:
    partitioned(tmp_path)
    slow = tmp_path / "parts" / "part0" / "graph.dgl"
    content = slow.read_bytes()
    slow.unlink()
    os.mkfifo(slow)
    more = {contract.ENV_VERIFY_PARTS: "1", contract.ENV_POD_IP: "127.0.0.1"}
    argv = [sys.executable, str(zipapp), "worker", "--", "/no/such/program"]
    with subprocess.Popen(argv, env=environment(tmp_path, 0, **more)) as process, slow.open("wb", 0) as file:
        file.write(content)
        process.send_signal(signal.SIGTERM)
        # A part without an end: a signal is only heeded between two reads, so there must be some.
        with contextlib.suppress(BrokenPipeError):
            while process.poll() is None:
                file.write(content)
    words = json.loads((tmp_path / "termination-log").read_text())
    assert (process.returncode, words["cause"]) == (contract.EXIT_PEER, "stop")

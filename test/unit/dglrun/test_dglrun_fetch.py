# SPDX-License-Identifier: Apache-2.0
"""`fetch`: parts come whole, of one partitioning, or not at all."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dglrun import contract
from dglop.dglrun.ending import Refusal
from dglop.dglrun.fetch import Fetcher
from dglop.dglrun.layout import clear_parts
from dglop.dglrun.manifest import load_manifest, verify_files
from dglop.dglrun.transfer import PartsServer, no_space
from test.unit.dglrun.dglrun_builders import (
    TOKEN,
    UID,
    Flaw,
    environment,
    free_port,
    partitioned,
    parts_server,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.scripted


def fetcher(
    url: str, folder: Path, *, part: int | None = 1, latched: str | None = None, patience: float = 60
) -> Fetcher:
    return Fetcher(
        PartsServer(url, lambda: TOKEN),
        str(folder),
        part=part,
        job_uid=UID,
        latched=latched,
        deadline=time.monotonic() + patience,
        retries=3,
        say=lambda _text: None,
        pause=lambda _seconds: None,
    )


def assert_part(folder: Path, part: int | None, source: Path) -> None:
    manifest = load_manifest(str(folder))
    assert manifest is not None
    verify_files(str(folder), manifest.of_part(part))
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == {file.path for file in manifest.of_part(part)} | {contract.MANIFEST_FILE}
    assert manifest == load_manifest(str(source))


def test_a_worker_gets_the_shared_files_and_its_own_part_only(tmp_path: Path) -> None:
    words = partitioned(tmp_path)
    with parts_server(tmp_path) as url:
        told = fetcher(url, tmp_path / "w").run()
    assert told == {"manifest": words["manifest"], "bytes": told["bytes"], "resumed": 0, "reused": False}
    assert_part(tmp_path / "w", 1, tmp_path / "parts")


def test_parts_that_are_there_already_are_not_fetched_again(tmp_path: Path) -> None:
    partitioned(tmp_path)
    flaw = Flaw()
    with parts_server(tmp_path, flaw) as url:
        fetcher(url, tmp_path / "w").run()
        flaw.ranges.clear()
        assert fetcher(url, tmp_path / "w").run()["reused"] is True
    assert flaw.ranges == []


def test_a_transfer_that_is_cut_goes_on_where_it_was(tmp_path: Path) -> None:
    partitioned(tmp_path)
    flaw = Flaw(cuts=1, after=4000)
    with parts_server(tmp_path, flaw) as url:
        assert fetcher(url, tmp_path / "w").run()["resumed"] == 1
    assert flaw.ranges[:2] == ["", "bytes=4000-"]
    assert_part(tmp_path / "w", 1, tmp_path / "parts")


def test_a_fetch_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    partitioned(tmp_path)
    flaw = Flaw(cuts=100, after=4000)
    with parts_server(tmp_path, flaw) as url, pytest.raises(Refusal):
        fetcher(url, tmp_path / "w", patience=0).run()
    flaw = Flaw()
    with parts_server(tmp_path, flaw) as url:
        assert fetcher(url, tmp_path / "w").run()["resumed"] == 1
    assert flaw.ranges[0] == "bytes=4000-"
    assert_part(tmp_path / "w", 1, tmp_path / "parts")


def test_a_server_that_sends_not_one_byte_is_given_up_after_the_retries(tmp_path: Path) -> None:
    partitioned(tmp_path)
    flaw = Flaw(cuts=100, after=0)
    with parts_server(tmp_path, flaw) as url, pytest.raises(Refusal, match="could not be fetched") as refusal:
        fetcher(url, tmp_path / "w").run()
    assert (refusal.value.reason, refusal.value.exit_code) == ("PartsUnreachable", contract.EXIT_RETRYABLE)
    assert len(flaw.ranges) == 4
    assert load_manifest(str(tmp_path / "w")) is None


def test_a_file_that_comes_corrupt_is_fetched_again(tmp_path: Path) -> None:
    partitioned(tmp_path)
    with parts_server(tmp_path, Flaw(spoils=2)) as url:
        fetcher(url, tmp_path / "w").run()
    assert_part(tmp_path / "w", 1, tmp_path / "parts")


def test_a_file_that_stays_corrupt_is_refused_with_its_name_and_both_hashes(tmp_path: Path) -> None:
    partitioned(tmp_path)
    spoilt = tmp_path / "parts" / "part1" / "graph.dgl"
    expected = next(f for f in load_manifest(str(tmp_path / "parts")).files if f.path == "part1/graph.dgl")
    spoilt.write_bytes(b"x" * expected.size)
    with parts_server(tmp_path) as url, pytest.raises(Refusal) as refusal:
        fetcher(url, tmp_path / "w").run()
    assert (refusal.value.reason, refusal.value.exit_code) == ("PartsCorrupt", contract.EXIT_CORRUPT)
    assert "part1/graph.dgl" in refusal.value.sentence
    assert f"expected sha256 {expected.sha256}, got " in refusal.value.sentence
    assert load_manifest(str(tmp_path / "w")) is None


def test_parts_of_an_older_partitioning_are_replaced_and_never_mixed(tmp_path: Path) -> None:
    partitioned(tmp_path)
    with parts_server(tmp_path) as url:
        fetcher(url, tmp_path / "w").run()
    clear_parts(str(tmp_path / "parts"))
    second = partitioned(tmp_path)
    with parts_server(tmp_path) as url:
        assert fetcher(url, tmp_path / "w").run()["manifest"] == second["manifest"]
    assert_part(tmp_path / "w", 1, tmp_path / "parts")


def test_a_fetch_starts_over_when_the_parts_are_made_anew_meanwhile(tmp_path: Path) -> None:
    partitioned(tmp_path)
    flaw = Flaw(cuts=1, after=4000)

    def make_anew(_seconds: float) -> None:
        clear_parts(str(tmp_path / "parts"))
        partitioned(tmp_path)

    with parts_server(tmp_path, flaw) as url:
        fetching = fetcher(url, tmp_path / "w")
        fetching.pause = make_anew
        fetching.run()
    assert_part(tmp_path / "w", 1, tmp_path / "parts")


def test_other_parts_than_the_latched_ones_are_refused_as_retryable(tmp_path: Path) -> None:
    words = partitioned(tmp_path)
    with parts_server(tmp_path) as url:
        with pytest.raises(Refusal, match=words["manifest"]) as refusal:
            fetcher(url, tmp_path / "w", latched="0" * 64).run()
        fetcher(url, tmp_path / "w", latched=words["manifest"]).run()
    assert (refusal.value.reason, refusal.value.exit_code) == ("PartsChanged", contract.EXIT_RETRYABLE)


def test_the_server_of_another_job_at_a_stale_address_is_not_used(tmp_path: Path) -> None:
    partitioned(tmp_path, **{contract.ENV_JOB_UID: "other"})
    with parts_server(tmp_path, uid="other") as url, pytest.raises(Refusal, match="another job"):
        fetcher(url, tmp_path / "w", patience=0).run()


def test_a_server_that_is_not_there_yet_is_tried_until_the_time_is_up(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"127\.0\.0\.1") as refusal:
        fetcher(f"http://127.0.0.1:{free_port()}", tmp_path / "w", patience=0).run()
    assert refusal.value.reason == "PartsUnreachable"


def test_the_server_ends_with_0_when_it_is_told_to_stop_and_the_zipapp_fetches_from_it(
    tmp_path: Path, zipapp: Path
) -> None:
    port = str(free_port())
    env = environment(tmp_path, **{contract.ENV_PARTS_PORT: port})
    with subprocess.Popen([sys.executable, str(zipapp), "serve"], env=env, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert port.encode() in server.stdout.readline()
        partitioned(tmp_path)
        more: dict[str, Any] = {
            contract.ENV_PARTS_URL: f"http://127.0.0.1:{port}",
            contract.ENV_PARTS_DIR: str(tmp_path / "w"),
        }
        code, words = run(environment(tmp_path, 1, **more), "fetch")
        server.send_signal(signal.SIGTERM)
        server.stdout.read()
    assert (code, words["reused"], server.returncode) == (0, False, 0)
    assert_part(tmp_path / "w", 1, tmp_path / "parts")


def test_a_fetch_told_to_stop_says_so(tmp_path: Path, zipapp: Path) -> None:
    env = environment(tmp_path, **{contract.ENV_PARTS_URL: f"http://127.0.0.1:{free_port()}"})
    argv = [sys.executable, str(zipapp), "fetch"]
    with subprocess.Popen(argv, env=env | {"PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b"next try" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
    words = json.loads((tmp_path / "termination-log").read_text())
    assert (process.returncode, words["cause"]) == (contract.EXIT_PEER, "stop")


def test_a_full_volume_is_said_in_a_sentence(tmp_path: Path) -> None:
    refusal = no_space(str(tmp_path), OSError(errno.ENOSPC, "No space left on device"))
    assert (refusal.reason, refusal.exit_code) == ("NoSpace", contract.EXIT_RETRYABLE)
    assert f"the volume of {tmp_path} is full" in refusal.sentence
    assert "larger volume" in refusal.sentence


def test_a_pod_without_a_part_gets_what_all_need_and_nothing_more(tmp_path: Path) -> None:
    partitioned(tmp_path)
    with parts_server(tmp_path) as url:
        fetcher(url, tmp_path / "mine", part=None).run()
    assert_part(tmp_path / "mine", None, tmp_path / "parts")
    assert (tmp_path / "mine" / "digits.json").exists()
    assert not list((tmp_path / "mine").glob("part*"))

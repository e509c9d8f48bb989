# SPDX-License-Identifier: Apache-2.0
"""A Launcher of launchMode Exec: parts and host files to the Workers, and one launch of all processes."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dglrun import contract
from dglop.dglrun.ending import Refusal
from dglop.dglrun.execmode import connect as connecting
from dglop.dglrun.execmode.dispatch import Dispatcher
from dglop.dglrun.execmode.launch import launch
from dglop.dglrun.execmode.pushing import Pusher, Spoilt
from dglop.dglrun.execmode.together import together
from dglop.dglrun.kube.apiserver import ApiServer
from dglop.dglrun.kube.session import Pod
from dglop.dglrun.manifest import load_manifest, verify_files
from dglop.dglrun.transfer import PartsServer
from test.unit.dglrun.dglrun_builders import (
    TOKEN,
    UID,
    Flaw,
    environment,
    partitioned,
    parts_server,
    write_dgl_parts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from test.unit.dglrun.dglrun_apiserver import Cluster

pytestmark = pytest.mark.scripted

POD = Pod("g-worker-1", container="dgl")


def dispatcher(url: str, folder: Path, retries: int = 3) -> Dispatcher:
    return Dispatcher(
        PartsServer(url, lambda: TOKEN),
        str(folder),
        deadline=time.monotonic() + 60,
        retries=retries,
        say=lambda _text: None,
        pause=lambda _seconds: None,
    )


def bring(server: Cluster, url: str, folder: Path, **more: Any) -> tuple[int, int]:
    work = dispatcher(url, folder, **more)
    manifest = work.manifest(UID, None)
    return work.bring(Pusher(server.client, POD), manifest, 1)


def assert_part(folder: Path) -> None:
    manifest = load_manifest(str(folder))
    assert manifest is not None
    verify_files(str(folder), manifest.of_part(1))
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == {file.path for file in manifest.of_part(1)} | {contract.MANIFEST_FILE}


def test_a_worker_is_brought_its_own_part_and_the_manifest_that_vouches_for_it(
    server: Cluster, tmp_path: Path
) -> None:
    partitioned(tmp_path)
    with parts_server(tmp_path) as url:
        size, resumed = bring(server, url, tmp_path / "worker")
    assert_part(tmp_path / "worker")
    assert (size > 15_000, resumed) == (True, 0)


def test_a_dispatch_that_is_cut_goes_on_where_it_was(server: Cluster, tmp_path: Path) -> None:
    partitioned(tmp_path)
    server.cuts = [10**9, 2000, 1000]  # the shared file whole, then a part's first file in three pieces
    with parts_server(tmp_path) as url:
        _, resumed = bring(server, url, tmp_path / "worker")
    assert_part(tmp_path / "worker")
    assert resumed >= 1


def test_a_partitioner_that_cuts_its_answers_is_asked_for_the_rest(server: Cluster, tmp_path: Path) -> None:
    partitioned(tmp_path)
    flaw = Flaw(cuts=1, after=3000)
    with parts_server(tmp_path, flaw) as url:
        bring(server, url, tmp_path / "worker")
    assert_part(tmp_path / "worker")
    assert "bytes=3000-" in flaw.ranges


def test_what_arrives_changed_is_brought_again_from_its_beginning(server: Cluster, tmp_path: Path) -> None:
    partitioned(tmp_path)
    server.spoils = 1
    with parts_server(tmp_path) as url:
        bring(server, url, tmp_path / "worker")
    assert_part(tmp_path / "worker")


def test_what_always_arrives_changed_is_refused_with_its_name(server: Cluster, tmp_path: Path) -> None:
    partitioned(tmp_path)
    server.spoils = 99
    with (
        parts_server(tmp_path) as url,
        pytest.raises(Refusal, match="is refused after 3 transfers") as caught,
    ):
        bring(server, url, tmp_path / "worker")
    assert (caught.value.reason, caught.value.exit_code) == ("PartsCorrupt", contract.EXIT_CORRUPT)


def test_parts_that_are_there_already_are_not_brought_again(server: Cluster, tmp_path: Path) -> None:
    partitioned(tmp_path)
    with parts_server(tmp_path) as url:
        bring(server, url, tmp_path / "worker")
        before = (tmp_path / "worker" / "part1" / "graph.dgl").stat().st_ino
        bring(server, url, tmp_path / "worker")
    assert (tmp_path / "worker" / "part1" / "graph.dgl").stat().st_ino == before


def test_a_launcher_without_the_right_says_so_at_once(server: Cluster, tmp_path: Path) -> None:
    partitioned(tmp_path)
    server.denied = 403
    with parts_server(tmp_path) as url, pytest.raises(Refusal, match="no such right") as caught:
        bring(server, url, tmp_path / "worker")
    assert caught.value.exit_code == contract.EXIT_CONFIG


def test_a_worker_that_takes_not_one_byte_is_given_up_after_the_retries(
    server: Cluster, tmp_path: Path
) -> None:
    partitioned(tmp_path)
    server.cuts = [0] * 99
    with parts_server(tmp_path) as url, pytest.raises(Refusal, match="could not be dispatched") as caught:
        bring(server, url, tmp_path / "worker", retries=2)
    assert caught.value.exit_code == contract.EXIT_RETRYABLE


def test_small_files_come_whole_or_not_at_all(server: Cluster, tmp_path: Path) -> None:
    pusher = Pusher(server.client, POD)
    files = {"empty": b"", "hostfile": b"10.0.0.1 30050\n", "more": bytes(range(256))}
    pusher.put(str(tmp_path), files)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == files
    server.spoils = 1
    with pytest.raises(Spoilt):
        pusher.put(str(tmp_path), {"hostfile": b"10.0.0.2 30050\n"})
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == files


CONFIG = {
    "hostfile": "10.0.0.1 30050 1 w-0 0\n10.0.0.2 30050 1 w-1 0\n",
    "ip_config": "10.0.0.1 30050\n10.0.0.2 30050\n",
    "kubexec.sh": "#!/bin/sh\n",
}


def test_launcher_and_workers_have_the_host_files_before_the_program_begins(
    server: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ApiServer, "of_pod", lambda _variables: server.client)
    mounted = tmp_path / "config"
    mounted.mkdir()
    (mounted / "..data").mkdir()
    for name, content in CONFIG.items():
        (mounted / name).write_text(content)
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    env = environment(
        tmp_path, 0, **{contract.ENV_EXEC_CONFIG_DIR: str(mounted), contract.ENV_POD_IP: "10.0.0.9"}
    )
    env[contract.ENV_POD_NAME] = "g-launcher-0"
    assert connecting.connect(env).exit_code == 0
    assert (run_dir / "leadfile").read_text() == "10.0.0.9 30050 g-launcher-0\n"
    assert (run_dir / "ip_config").read_text() == CONFIG["ip_config"]
    assert (run_dir / "kubexec.sh").stat().st_mode & 0o111
    pods = {each["path"].split("/")[-2] for each in server.asked if each["path"].endswith("/exec")}
    assert pods == {"w-0", "w-1"}


@pytest.mark.parametrize("content", ["", "10.0.0.1 30050\n", "10.0.0.1 port 1 w-0 0\n"])
def test_a_host_file_that_is_none_is_refused_with_its_form(tmp_path: Path, content: str) -> None:
    (tmp_path / "hostfile").write_text(content)
    env = environment(tmp_path, 0, **{contract.ENV_EXEC_CONFIG_DIR: str(tmp_path)})
    with pytest.raises(Refusal, match=r"ip port servers name gpus|names no Worker"):
        connecting.connect(env)


def make_launcher(tmp_path: Path, **more: str) -> dict[str, str]:
    """A Launcher's environment, whose kubexec.sh runs commands on this machine."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "hostfile").write_text(CONFIG["hostfile"])
    write_dgl_parts(tmp_path / "parts")
    (tmp_path / "parts" / contract.STATS_FILE).write_text('{"edgeCut": 7}')
    script = tmp_path / "kubexec.sh"
    script.write_text('#!/bin/sh\nexport WHERE="$1"\nshift\nexec /bin/sh -c "$*"\n')
    script.chmod(0o755)
    return environment(tmp_path, 0, DGL_OPERATOR_KUBEXEC_PATH=str(script), OUT=str(tmp_path / "out"), **more)


SAY = 'echo "$WHERE $DGL_ROLE ${RANK:-$DGL_SERVER_ID} $DGL_NUM_CLIENT $DGL_CONF_PATH $0" >> "$OUT"'


def test_servers_and_trainers_run_on_every_worker_with_dgls_variables(tmp_path: Path) -> None:
    env = make_launcher(tmp_path, **{contract.ENV_NUM_TRAINERS: "2"})
    assert launch(["sh", "-c", SAY, "it's me"], env).exit_code == 0
    conf = tmp_path / "parts" / "digits.json"
    servers = [f"w-{i} server {i} 4 {conf} it's me" for i in range(2)]
    trainers = [f"w-{i // 2} client {i} 4 {conf} it's me" for i in range(4)]
    assert sorted((tmp_path / "out").read_text().splitlines()) == sorted(servers + trainers)


def test_the_first_process_that_fails_ends_the_launch_with_its_code_and_words(tmp_path: Path) -> None:
    env = make_launcher(tmp_path)
    command = 'if [ "$RANK" = 1 ]; then echo it broke; exit 7; fi; exec sleep 600'
    ending = launch(["sh", "-c", command], env)
    assert ending.exit_code == 7
    assert ending.message["process"] == "w-1 trainer-0"
    assert ending.message["lines"] == ["it broke"]


def test_a_trainer_that_crashes_leaves_nothing_that_keeps_its_launch_waiting(tmp_path: Path) -> None:
    command = '[ "$DGL_ROLE" = server ] && exec sleep 600; sleep 600 & echo it broke; kill -9 $$'
    ending = launch(["sh", "-c", command], make_launcher(tmp_path))
    assert ending.exit_code == 137
    assert "it broke" in ending.message["lines"]


def test_a_program_that_a_worker_lacks_is_said_by_name(tmp_path: Path) -> None:
    ending = launch(["/opt/none/train"], make_launcher(tmp_path))
    assert ending.exit_code == 127
    assert "cannot start /opt/none/train" in ending.message["lines"][-1]


def test_servers_that_stay_when_all_trainers_are_done_are_ended(tmp_path: Path) -> None:
    env = make_launcher(tmp_path, **{contract.ENV_SERVER_EXIT_SECONDS: "0.2"})
    assert launch(["sh", "-c", '[ "$DGL_ROLE" = client ] || exec sleep 600'], env).exit_code == 0


def test_workers_without_usable_parts_are_refused_by_name(tmp_path: Path) -> None:
    env = make_launcher(tmp_path)
    (tmp_path / "parts" / "part1" / "graph.dgl").unlink()
    with pytest.raises(Refusal, match=r"w-[01]: no usable parts: .*part1/graph\.dgl") as caught:
        launch(["true"], env)
    assert (caught.value.reason, caught.value.exit_code) == ("PartsCorrupt", contract.EXIT_CORRUPT)


def test_parts_of_another_partitioning_than_the_attempts_are_refused(tmp_path: Path) -> None:
    env = make_launcher(tmp_path, **{contract.ENV_MANIFEST_HASH: "another"})
    with pytest.raises(Refusal, match="this attempt is for another") as caught:
        launch(["true"], env)
    assert caught.value.exit_code == contract.EXIT_RETRYABLE


def test_on_a_claim_each_worker_compares_its_part_with_the_manifest_first(tmp_path: Path) -> None:
    partitioned(tmp_path)
    env = make_launcher(tmp_path, **{contract.ENV_VERIFY_PARTS: "1"})
    assert launch(["true"], env).exit_code == 0
    (tmp_path / "parts" / "part0" / "graph.dgl").write_bytes(b"x" * 5000)
    with pytest.raises(Refusal, match=r"w-[01]: the parts in .* are refused: .*part0/graph\.dgl"):
        launch(["true"], env)


def test_a_worker_that_is_gone_is_a_retryable_failure(tmp_path: Path) -> None:
    env = make_launcher(tmp_path)
    (tmp_path / "kubexec.sh").write_text("#!/bin/sh\necho 'pods \"w-0\" not found' >&2\nexit 1\n")
    with pytest.raises(Refusal, match=r"does not say where its parts are .*not found") as caught:
        launch(["true"], env)
    assert caught.value.exit_code == contract.EXIT_RETRYABLE


def test_a_launch_of_nothing_says_how_it_is_called(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"launch -- python3 train\.py"):
        launch([], environment(tmp_path))


def test_work_is_done_together_and_the_first_error_is_raised() -> None:
    assert together([lambda: 1, lambda: 2, lambda: 3], 2) == [1, 2, 3]

    def fail() -> int:
        raise ValueError(json.dumps("no"))

    with pytest.raises(ValueError, match="no"):
        together([lambda: 1, fail], 2)

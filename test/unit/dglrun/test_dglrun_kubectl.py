# SPDX-License-Identifier: Apache-2.0
"""kubectl's exec and cp as a Launcher has them: words, exit codes, and copies that are whole."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from dglop.dglrun.ending import Refusal
from dglop.dglrun.kube import kubectl as program
from dglop.dglrun.kube.apiserver import ApiServer, Denied
from dglop.dglrun.kube.copying import Copier, CopyError
from dglop.dglrun.kube.session import Pod, capture
from test.unit.dglrun.dglrun_apiserver import cluster

if TYPE_CHECKING:
    from pathlib import Path

    from test.unit.dglrun.dglrun_apiserver import Cluster

pytestmark = pytest.mark.scripted

POD = Pod("g-worker-0", container="dgl")


@pytest.fixture
def as_kubectl(server: Cluster, monkeypatch: pytest.MonkeyPatch):
    """Runs a line of kubectl against the server."""
    monkeypatch.setattr(ApiServer, "of_pod", lambda _variables: server.client)
    return lambda *words: program.kubectl(words, {})


def copier(server: Cluster, tries: int = 4) -> Copier:
    return Copier(server.client, tries, say=lambda _text: None, pause=lambda _seconds: None)


def test_a_command_runs_and_its_output_and_exit_code_come_back(server: Cluster) -> None:
    done = capture(server.client, POD, ["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.code, bytes(done.out), bytes(done.err)) == (3, b"out\n", b"err\n")


@pytest.mark.parametrize("protocol", ["v5.channel.k8s.io", "v4.channel.k8s.io"])
def test_much_goes_in_and_out_at_the_same_time(protocol: str) -> None:
    content = bytes(range(256)) * 12_000
    with cluster(protocols=(protocol,)) as server:
        command = ["head", "-c", str(len(content))]
        done = capture(server.client, POD, command, iter([content]))
    assert bytes(done.out) == content


def test_input_has_an_end_where_the_protocol_knows_one(server: Cluster) -> None:
    assert capture(server.client, POD, ["cat"], iter([b"all of it"])).text == "all of it"


def test_kubectl_exec_takes_its_options_in_any_order(as_kubectl, server: Cluster, capfd) -> None:
    assert as_kubectl("exec", "-n", "other", "w-0", "--container=c", "--", "sh", "-c", "echo $0 -n x") == 0
    assert as_kubectl("-n", "other", "exec", "w-0", "-c", "c", "--", "false") == 1
    assert as_kubectl("exec", "w-0", "echo", "older scripts leave out the dashes") == 0
    assert "older scripts" in capfd.readouterr().out
    execs = [each for each in server.asked if each["path"].endswith("/exec")]
    assert execs[0]["path"] == "/api/v1/namespaces/other/pods/w-0/exec"
    assert execs[0]["container"] == ["c"]
    assert execs[2]["container"] == ["dgl"], "the pod's default container"
    assert execs[0]["token"] == "Bearer the launcher's token"


@pytest.mark.parametrize(
    "words", [["get", "pods"], ["exec", "w-0"], ["exec", "--frob", "w-0", "--", "ls"], ["cp", "a"]]
)
def test_what_it_does_not_know_is_said_with_what_it_knows(as_kubectl, words: list[str], capfd) -> None:
    assert as_kubectl(*words) == 1
    assert "kubectl cp [-n NAMESPACE]" in capfd.readouterr().err


def test_a_right_that_is_lacking_is_said_in_the_servers_words(as_kubectl, server: Cluster, capfd) -> None:
    server.denied = 403
    assert as_kubectl("exec", "w-0", "-c", "c", "--", "ls") == 1
    assert "pods is forbidden: no such right (403)" in capfd.readouterr().err


def test_a_pod_without_an_account_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="a Launcher needs a service account"):
        ApiServer.of_pod({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, account=str(tmp_path))


def make_tree(folder: Path) -> None:
    (folder / "part0").mkdir(parents=True)
    (folder / "g.json").write_text("{}")
    (folder / "part0" / "graph.dgl").write_bytes(bytes(range(256)) * 2000)
    (folder / "part0" / "empty").write_bytes(b"")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)


def assert_same(one: Path, other: Path) -> None:
    subprocess.run(["diff", "-r", str(one), str(other)], check=True)


def test_a_folder_is_copied_to_a_pod_and_back(as_kubectl, tmp_path: Path) -> None:
    make_tree(tmp_path / "here")
    assert as_kubectl("cp", str(tmp_path / "here"), f"t/w-0:{tmp_path}/there", "-c", "c") == 0
    assert_same(tmp_path / "here", tmp_path / "there")
    assert as_kubectl("cp", f"w-0:{tmp_path}/there", str(tmp_path / "back"), "-c", "c") == 0
    assert_same(tmp_path / "here", tmp_path / "back")
    assert (tmp_path / "back" / "run.sh").stat().st_mode & 0o111


def test_into_a_folder_that_is_there_it_is_copied_under_its_own_name(server: Cluster, tmp_path: Path) -> None:
    make_tree(tmp_path / "here")
    (tmp_path / "there").mkdir()
    copier(server).upload(str(tmp_path / "here"), POD, str(tmp_path / "there"))
    assert_same(tmp_path / "here", tmp_path / "there" / "here")


def test_a_copy_that_is_cut_is_tried_again(server: Cluster, tmp_path: Path) -> None:
    make_tree(tmp_path / "here")
    server.cuts = [100, 200_000]
    copier(server).upload(str(tmp_path / "here"), POD, str(tmp_path / "there"))
    assert_same(tmp_path / "here", tmp_path / "there")


def test_a_copy_that_arrives_changed_is_noticed_and_tried_again(server: Cluster, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content " * 5000)
    copier(server).upload(str(tmp_path / "file"), POD, str(tmp_path / "copy"))
    (tmp_path / "copy").write_bytes(b"changed")
    server.cuts = [9000]
    copier(server).upload(str(tmp_path / "file"), POD, str(tmp_path / "copy"))
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "file").read_bytes()


def test_a_copy_that_is_always_cut_fails_and_says_so(server: Cluster, tmp_path: Path) -> None:
    make_tree(tmp_path / "here")
    server.cuts = [100] * 9
    with pytest.raises(CopyError, match="could not be copied"):
        copier(server, tries=3).upload(str(tmp_path / "here"), POD, str(tmp_path / "there"))


def test_what_is_not_there_is_said_at_once(server: Cluster, tmp_path: Path) -> None:
    with pytest.raises(CopyError, match="nothing is not there"):
        copier(server).upload(str(tmp_path / "nothing"), POD, "/x")
    with pytest.raises(CopyError, match=r"tar in g-worker-0"):
        copier(server).download(POD, str(tmp_path / "nothing"), str(tmp_path / "x"))
    server.denied = 403
    with pytest.raises(Denied):
        copier(server).upload(str(tmp_path), POD, "/x")

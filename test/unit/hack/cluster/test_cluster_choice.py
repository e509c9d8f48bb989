# SPDX-License-Identifier: Apache-2.0
"""Which cluster is taken, and with what settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from hack.cluster.binaries import TOOLS
from hack.cluster.errors import ClusterError
from hack.cluster.external import External, pushed_name
from hack.cluster.kind import arguments
from hack.cluster.local import Local, announcement
from hack.cluster.paths import Paths, paths_from
from hack.cluster.provider import choose
from hack.cluster.report import NOTE_WIDTH, PlainReport, choose_report
from hack.cluster.settings import Ports, Settings, read, settings_from, written
from hack.cluster.status import Ended


@pytest.mark.parametrize(
    ("environ", "docker", "name"),
    [
        ({}, False, "local"),
        ({}, True, "kind"),
        ({"DGLOP_KUBECONFIG": "/k"}, True, "external"),
        ({"DGLOP_KUBECONFIG": "/k"}, False, "external"),
        ({"DGLOP_KUBECONFIG": "/k", "DGLOP_PROVIDER": "local"}, True, "local"),
    ],
)
def test_a_given_kubeconfig_beats_docker_and_docker_beats_this_machine(
    environ: dict[str, str], docker: bool, name: str
) -> None:
    assert choose(environ, docker=docker).name == name


def test_ports_are_moved_one_by_one_by_the_environment() -> None:
    assert settings_from({"DGLOP_PORT_ETCD": "7001"}).ports == Ports(etcd=7001)


@pytest.mark.parametrize("text", ["", "x", "0", "65536", "-1"])
def test_what_is_no_port_is_refused_by_the_name_of_its_variable(text: str) -> None:
    with pytest.raises(ClusterError, match="DGLOP_PORT_KUBELET"):
        settings_from({"DGLOP_PORT_KUBELET": text})


def test_another_network_moves_the_bridge_and_the_api_with_it() -> None:
    moved = settings_from(
        {"DGLOP_POD_NET": "10.1.0.0/16", "DGLOP_SERVICE_NET": "10.2.0.0/24", "DGLOP_NAME": "x"}
    )
    assert (moved.gateway, moved.api_service, moved.bridge) == ("10.1.0.1", "10.2.0.1", "x0")


@pytest.mark.parametrize("text", ["10.1.0.1/16", "nets", "10.1.0.0/30"])
def test_what_is_no_network_or_too_small_is_refused(text: str) -> None:
    with pytest.raises(ClusterError, match="DGLOP_POD_NET"):
        settings_from({"DGLOP_POD_NET": text})


def test_settings_are_found_again_as_they_were_written() -> None:
    settings = settings_from({"DGLOP_POD_NET": "10.1.0.0/16", "DGLOP_PORT_ETCD": "7001", "DGLOP_NAME": "x"})
    assert read(written(settings)) == settings


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pods": "x"}', '{"ports": {"unknown": 1}}'])
def test_what_is_half_written_or_of_another_version_is_no_settings(text: str) -> None:
    assert read(text) is None


def test_everything_lies_under_the_folder_that_the_environment_names(tmp_path: Path) -> None:
    paths = paths_from({"DGLOP_CACHE": str(tmp_path)})
    places = (paths.bin, paths.cluster, paths.kubeconfig, paths.log, paths.containerd, paths.pids)
    assert all(place.is_relative_to(tmp_path) for place in places)


@pytest.mark.parametrize(
    ("name", "pushed"),
    [
        ("dglop.local/operator:1", "reg.example/team/operator:1"),
        ("localhost/operator:1", "reg.example/team/operator:1"),
        ("host:5000/a/b:1", "reg.example/team/a/b:1"),
        ("team/operator:1", "reg.example/team/team/operator:1"),
        ("operator:1", "reg.example/team/operator:1"),
    ],
)
def test_the_registry_takes_the_place_of_an_images_host(name: str, pushed: str) -> None:
    assert pushed_name(name, "reg.example/team/") == pushed


def test_an_image_for_a_foreign_cluster_needs_a_registry(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="set DGLOP_REGISTRY"):
        External({"DGLOP_KUBECONFIG": "/k"}).load(tmp_path / "image.tar")


def test_a_foreign_cluster_without_its_file_is_told_by_the_files_name() -> None:
    with pytest.raises(ClusterError, match="/no/such/file"):
        External({"DGLOP_KUBECONFIG": "/no/such/file"}).kubeconfig()


def test_kind_is_never_called_without_the_name_of_the_cluster() -> None:
    commands = ("up", "down", "kubeconfig", "load", "logs")
    called = [arguments(command, "mine", Path("/k"), Path("/a.tar")) for command in commands]
    assert all(argv[argv.index("--name") + 1] == "mine" for argv in called)


def test_the_announcement_names_what_is_installed_and_built_and_what_that_takes() -> None:
    etcd = TOOLS["etcd"]
    text = announcement(["runc"], [etcd], 9.5, 13 * 2**30)
    assert "runc" in text
    assert f"etcd {etcd.version}" in text
    assert "10 to 20 min" in text
    assert "13 GiB" in text


def test_no_disk_is_asked_for_where_nothing_is_built() -> None:
    assert "GiB" not in announcement(["runc"], [], 0, 13 * 2**30)


def test_a_failed_step_is_marked_and_its_error_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    report = PlainReport(sys.stdout, iter([0.0, 0.0, 70.0]).__next__)
    with pytest.raises(ClusterError), report.step("cluster"):
        raise ClusterError("no")
    assert capsys.readouterr().out.split() == ["✗", "cluster", "1m", "10s"]


def test_a_step_that_takes_long_gives_a_sign_of_life(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    report = PlainReport(sys.stdout, iter([0.0, 0.0, 1.0, 20.0, 20.0, 30.0]).__next__)
    with report.step("build") as step:
        step.note("one")
        step.note("two")
    assert [row.split() for row in capsys.readouterr().out.splitlines()] == [
        ["·", "build", "two"],
        ["✓", "build", "two", "30", "s"],
    ]


@pytest.mark.parametrize(
    ("ended", "says"),
    [
        (Ended(11, 24, was_there=True), "ended: 11 processes, 24 containers"),
        (Ended(0, 0, was_there=True), "none was running; cleared what an earlier one left"),
        (Ended(0, 0, was_there=False), "none was running"),
    ],
)
def test_what_was_ended_is_said_in_a_few_words(ended: Ended, says: str) -> None:
    assert ended.text == says
    assert len(says) <= NOTE_WIDTH


def test_where_no_cluster_runs_down_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Local(Paths(tmp_path), Settings()).down(choose_report())
    assert "none was running" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_cluster_is_left_as_it_is_and_down_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    External({"DGLOP_KUBECONFIG": "/k"}).down(choose_report())
    assert "yours, left as it is" in capsys.readouterr().out

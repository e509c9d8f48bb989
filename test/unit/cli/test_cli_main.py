# SPDX-License-Identifier: Apache-2.0
"""The `dglop` command line."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys

import pytest
import yaml

from dglop.cli.main import main
from test.unit.contract.kubeconfigs import write

_KUBECONFIGS = ("KUBECONFIG", "DGLOP_KUBECONFIG", "KUBERNETES_SERVICE_HOST")


def test_crd_prints_what_kubectl_can_apply(capsys):
    assert main(["crd"]) == 0
    (crd,) = yaml.safe_load_all(capsys.readouterr().out)
    assert crd["metadata"]["name"] == "dgljobs.kubeflow.org"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),
        (["--help"], 0),
        (["fly"], 2),
        (["crd", "x"], 2),
        (["version", "x"], 2),
        (["--version", "--json"], 2),
    ],
)
def test_wrong_words_are_answered_with_help(words, code, capsys):
    assert main(words) == code
    said = capsys.readouterr()
    assert said.out + said.err


@pytest.mark.parametrize(
    ("environment", "flags", "said"),
    [
        ({}, ["--lease-duration=5"], "--lease-duration (5 s) must be longer than --renew-deadline (10 s)"),
        ({}, ["--retry-period", "9"], "--renew-deadline (10 s) must be longer than 1.2 times --retry-period"),
        (
            {"DGLOP_RENEW_DEADLINE": "12"},
            ["--lease-duration=11"],
            "--lease-duration (11 s) must be longer than DGLOP_RENEW_DEADLINE (12 s)",
        ),
        (
            {"DGLOP_RENEW_DEADLINE": "12"},
            ["--lease-duration=11", "--renew-deadline=11"],
            "--lease-duration (11 s) must be longer than --renew-deadline (11 s)",
        ),
        (
            {"DGLOP_LEASE_DURATION": "5"},
            [],
            "DGLOP_LEASE_DURATION (5 s) must be longer than DGLOP_RENEW_DEADLINE (10 s)",
        ),
        ({}, ["--lease-duration=long"], "--lease-duration: Input should be a valid number"),
        ({"DGLOP_CONCURRENCY": "0"}, [], "DGLOP_CONCURRENCY: Input should be greater"),
        ({}, ["--metrics-bind=nonsense"], "--metrics-bind: 'nonsense' is no address to listen on"),
        ({}, ["--health-bind=:99999"], "--health-bind: ':99999' is no address to listen on"),
        ({}, ["--progress-bind", "a b:80"], "--progress-bind: 'a b:80' is no address to listen on"),
        ({}, ["--progress-url=nowhere"], "--progress-url: the server 'nowhere' is not reached by http"),
        ({}, ["--delivery-image=My Image"], "--delivery-image: 'My Image' cannot be an image"),
        ({}, ["--cluster-domain=The Cluster"], "--cluster-domain: 'The Cluster' cannot be a domain"),
        ({"DGLOP_METRICS_BIND": "x"}, [], "DGLOP_METRICS_BIND: 'x' is no address to listen on"),
    ],
)
def test_a_wrong_setting_is_named_as_it_was_set(environment, flags, said, monkeypatch, capsys):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["operator", *flags]) == 2
    error = capsys.readouterr().err
    assert error.startswith("dglop operator: ")
    assert said in error
    assert not re.search(r"[a-z]_[a-z]", error), "a name of Python's own"


def test_the_version_is_printed(capsys):
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith("dglop ")


def test_help_says_nothing_of_defaults_that_are_empty_and_lists_as_people_write_them(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit, match="0"):
        main(["operator", "--help"])
    said = capsys.readouterr().out
    assert "(default: )" not in said
    assert "(default: DGLJob)" in said
    assert "by default the service account in a cluster, else what KUBECONFIG names.\n" in said
    assert not re.search(r"[a-z]_[a-z]", said), "a name of Python's own"


@pytest.mark.scripted
@pytest.mark.parametrize(
    ("environment", "flags", "remedy"),
    [
        ({}, ["--kubeconfig=/nope"], "the kubeconfig /nope does not exist; give the path of one that does"),
        ({"DGLOP_KUBECONFIG": "/nope"}, [], "the kubeconfig /nope does not exist; give the path"),
        ({"KUBECONFIG": "/nope"}, [], "the kubeconfig /nope does not exist; set the variable KUBECONFIG"),
    ],
)
def test_a_kubeconfig_that_is_not_there_ends_the_operator_before_anything_listens(environment, flags, remedy):
    command = [sys.executable, "-m", "dglop", "operator", *flags, "--log-format=json"]
    command += ["--metrics-bind=127.0.0.1:0", "--health-bind=127.0.0.1:0"]
    given = {name: value for name, value in os.environ.items() if name not in _KUBECONFIGS} | environment
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=given)
    (line,) = [json.loads(each) for each in (ended.stdout + ended.stderr).splitlines()]
    assert (ended.returncode, remedy in line["error"]) == (1, True), line


@pytest.mark.scripted
def test_an_address_in_use_ends_the_operator_with_a_sentence_and_1(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [sys.executable, "-m", "dglop", "operator", f"--metrics-bind={bind}", "--log-format=json"]
        command.append(f"--kubeconfig={write(tmp_path / 'config')}")
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    last = json.loads((ended.stdout + ended.stderr).splitlines()[-1])
    assert f"cannot listen on {bind} for metrics" in last["error"]
    assert "Traceback" not in ended.stdout + ended.stderr

# SPDX-License-Identifier: Apache-2.0
"""Settings that could never work are refused before anything waits for them, and a flag mends a variable."""

from __future__ import annotations

import io
import json

import pytest

from dglop import Manager, Settings
from dglop.errors import ConfigError
from dglop.runtime.log import make_log
from dglop.testing.plugin import memory_cluster

__all__ = ("memory_cluster",)


@pytest.mark.parametrize("names", [",", " ", " , ,"])
def test_a_list_of_no_namespaces_does_not_mean_all_of_them(names):
    with pytest.raises(ConfigError, match=r"--namespace: .* names no namespace"):
        Settings().with_flags(["--namespace", names])


@pytest.mark.parametrize("name", ["A_b", "ä", "[1", "a.b", "-a", "a-", "a" * 64])
def test_namespaces_that_cannot_exist_are_refused(name):
    for flag, value in (("--namespace", f"good,{name}"), ("--leader-election-namespace", name)):
        with pytest.raises(ConfigError, match=rf"{flag}: .* cannot be a namespace"):
            Settings().with_flags([f"{flag}={value}"])


def test_namespaces_that_can_exist_are_taken_with_blanks_and_a_comma_at_the_end():
    assert Settings().with_flags(["--namespace", "a, b-2 ,"]).namespaces == ("a", "b-2")


@pytest.mark.parametrize("name", ["BAD_ID", "a..b", "-a", "a/b", "a" * 254])
def test_a_lease_that_cannot_exist_is_refused(name):
    with pytest.raises(ConfigError, match=r"--leader-election-id: .* cannot be an object's name"):
        Settings().with_flags([f"--leader-election-id={name}"])


async def test_a_managers_name_that_can_be_no_lease_is_refused_at_the_start_of_one_that_stands_for_election():
    manager = Manager(Settings(leader_elect=True), name="My Operator")
    with pytest.raises(ConfigError, match="'My Operator' cannot be the name of a lease; say --leader-elect"):
        await manager.start()


@pytest.mark.parametrize("flag", ["--lease-duration", "--renew-deadline", "--retry-period"])
@pytest.mark.parametrize("value", ["inf", "nan", "3000000000", "-1"])
def test_times_of_a_lease_must_fit_into_one(flag, value):
    with pytest.raises(ConfigError, match=f"{flag}: Input should be"):
        Settings().with_flags([f"{flag}={value}"])


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("DGLOP_LOG_LEVEL", "loud", "DGLOP_LOG_LEVEL: Input should be 'debug'"),
        ("DGLOP_CONFIG", "/there/is/no/such", "the settings in /there/is/no/such cannot be read"),
        ("DGLOP_NAMESPACE", "A_b", "DGLOP_NAMESPACE: 'A_b' cannot be a namespace"),
    ],
)
async def test_a_bad_variable_is_one_sentence_and_hides_no_help(monkeypatch, capsys, variable, value, said):
    monkeypatch.setenv(variable, value)
    manager = Manager(name="greeter")
    with pytest.raises(SystemExit, match="2"):
        manager.main([])
    assert capsys.readouterr().err.startswith(f"greeter: {said}")
    with pytest.raises(SystemExit, match="0"):
        manager.main(["--help"])
    assert "--lease-duration" in capsys.readouterr().out
    with pytest.raises(ConfigError, match=said.split(" ")[0]):
        await manager.start()


def test_a_flag_mends_what_a_variable_has_wrong(monkeypatch, tmp_path):
    monkeypatch.setenv("DGLOP_LOG_LEVEL", "loud")
    monkeypatch.setenv("DGLOP_CONFIG", "/there/is/no/such")
    good = tmp_path / "good.yaml"
    good.write_text("namespace: a")
    manager = Manager(name="greeter")
    settings = manager.settings.with_flags(["--log-level=info", f"--config={good}"])
    assert (settings.log_level, settings.namespace) == ("info", "a")


@pytest.mark.parametrize(
    ("variable", "value", "meant"),
    [
        ("DGLOP_LOGLEVEL", "debug", "DGLOP_LOG_LEVEL"),
        ("DGLOP_LEADERELECT", "true", "DGLOP_LEADER_ELECT"),
        ("DGLOP_NAMESPACES", "a", "DGLOP_NAMESPACE"),
        ("dglop_metricsbind", ":8080", "DGLOP_METRICS_BIND"),
        ("DGLOP_METRICS_PORT", ":8080", "DGLOP_METRICS_SECURE"),
        ("DGLOP_KUBECONFIG", "/x", None),
        ("dglop_namespace", "a", None),
        # another program's, and those that Kubernetes sets in pods for each Service beside them
        ("DGLOP_CACHE", "/x", None),
        ("DGLOP_NAME", "x", None),
        ("DGLOP_METRICS_PORT", "tcp://10.0.0.1:8080", None),
        ("DGLOP_METRICS_PORT_8080_TCP_ADDR", "10.0.0.1", None),
        ("DGLOP_METRICS_SERVICE_HOST", "10.0.0.1", None),
        ("DGLOP_METRICS_SERVICE_PORT_METRICS", "8080", None),
        ("OTHER_LOGLEVEL", "debug", None),
    ],
)
def test_a_variable_that_was_meant_for_a_setting_is_known(monkeypatch, variable, value, meant):
    monkeypatch.setenv(variable, value)
    assert Settings.misspelt_variables() == ({variable: meant} if meant else {})


async def test_a_misspelt_variable_is_warned_of_when_a_manager_starts(monkeypatch, memory_cluster):
    monkeypatch.setenv("DGLOP_LOGLEVEL", "debug")
    out = io.StringIO()
    manager = memory_cluster.manager()
    manager.reconfigure(manager.settings, make_log(stream=out))
    async with manager:
        pass
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    (line,) = [each for each in lines if "variable" in each]
    told = (line["level"], line["variable"], line["did_you_mean"])
    assert told == ("warning", "DGLOP_LOGLEVEL", "DGLOP_LOG_LEVEL")

# SPDX-License-Identifier: Apache-2.0
"""Settings out of a file: what wins, and what is said of a file that is wrong."""

from __future__ import annotations

import pytest

from dglop import Settings
from dglop.errors import ConfigError


@pytest.fixture
def write(tmp_path):
    def write_it(text: str, name: str = "settings.yaml") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write_it


def test_a_variable_wins_over_the_file_and_a_flag_over_both(write, monkeypatch):
    path = write("namespace: file\nlog-level: debug\nlog-format: json\n")
    monkeypatch.setenv("DGLOP_CONFIG", path)
    monkeypatch.setenv("DGLOP_NAMESPACE", "variable")
    monkeypatch.setenv("DGLOP_LOG_LEVEL", "warning")
    settings = Settings.from_environment().with_flags(["--log-level", "error"])
    assert (settings.namespace, settings.log_level, settings.log_format) == ("variable", "error", "json")


def test_a_variable_with_the_default_value_wins_over_the_file(write, monkeypatch):
    monkeypatch.setenv("DGLOP_LOG_LEVEL", "info")
    settings = Settings.from_environment().with_flags(["--config", write("log-level: debug")])
    assert settings.log_level == "info"


def test_a_flag_names_the_file_in_the_place_of_the_one_that_the_environment_names(write, monkeypatch):
    monkeypatch.setenv("DGLOP_CONFIG", write("namespace: one\nlog-level: debug", "one.yaml"))
    settings = Settings.from_environment().with_flags(["--config", write("namespace: two", "two.yaml")])
    assert (settings.namespace, settings.log_level) == ("two", "info")


def test_names_in_the_file_may_have_dashes_or_underscores_and_an_empty_file_is_fine(write):
    settings = Settings().with_flags(["--config", write("leader_elect: true\ncache-resync-seconds: 0")])
    assert (settings.leader_elect, settings.cache_resync_seconds) == (True, 0)
    assert Settings().with_flags(["--config", write("# nothing yet\n")]).leader_elect is False


def test_settings_of_a_program_are_read_from_the_file_too(write):
    class Mine(Settings):
        greeting: str = "hello"
        """What to say."""

    assert Mine().with_flags(["--config", write("greeting: hi")]).greeting == "hi"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("log-levle: debug", "has log-levle, which is no setting; did you mean log-level?"),
        ("7: debug", "has 7, which is no setting"),
        ("- log-level", "must be a mapping"),
        ("log-level: [", "cannot be read"),
        ("config: other.yaml", "cannot name another file"),
        ("lease-duration: soon", "lease-duration in .*settings.yaml: Input should be a valid number"),
        ("lease-duration: 5", "lease-duration in .*settings.yaml .5 s. must be longer than --renew-deadline"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_wrong_in_it(write, text, said):
    with pytest.raises(ConfigError, match=said):
        Settings().with_flags(["--config", write(text)])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        Settings().with_flags(["--config", str(tmp_path / "none.yaml")])


def test_a_value_in_the_file_that_the_environment_names_is_found_there(write, monkeypatch):
    monkeypatch.setenv("DGLOP_CONFIG", write("metrics-bind: nonsense:port:x"))
    with pytest.raises(ConfigError, match=r"metrics-bind in .*settings\.yaml"):
        Settings.from_environment()


def test_one_setting_in_two_spellings_is_refused(write):
    with pytest.raises(ConfigError, match="has log-level and log_level, which are one; leave out one"):
        Settings().with_flags(["--config", write("log-level: debug\nlog_level: info")])


def test_a_truth_in_the_file_is_no_number(write):
    with pytest.raises(ConfigError, match=r"lease-duration in .*: a number is wanted, not true"):
        Settings().with_flags(["--config", write("lease-duration: yes")])

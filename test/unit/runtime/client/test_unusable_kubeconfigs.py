# SPDX-License-Identifier: Apache-2.0
"""Kubeconfigs that can never work are refused at once, in a sentence, and what they say is all heeded."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import ConfigError
from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.client.kubeconfig import read_kubeconfig
from dglop.runtime.client.link import Link
from dglop.runtime.client.sources import load
from dglop.runtime.client.tokens import TokenFile
from dglop.testing.scripted_replies import answer
from test.unit.contract.kubeconfigs import write

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.testing.scripted import ScriptedServer

EXEC = "client.authentication.k8s.io/v1"


async def refusal(path: Path, **parts: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        await read_kubeconfig(str(write(path, **parts)))
    return str(caught.value)


def failing(folder: Path, script: str) -> dict[str, Any]:
    program = folder / "plugin"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"exec": {"apiVersion": EXEC, "command": str(program)}}


@pytest.mark.parametrize("said", ["false", "no", 0])
async def test_only_true_and_false_say_whether_certificates_are_checked(tmp_path: Path, said: Any) -> None:
    why = await refusal(tmp_path / "config", cluster={"insecure-skip-tls-verify": said})
    assert "insecure-skip-tls-verify in clusters[0]" in why
    assert "it must be true or false, unquoted" in why


@pytest.mark.parametrize(
    ("cluster", "why"),
    [
        ({"server": "127.0.0.1:1"}, "not reached by http or https; write it as https://"),
        ({"server": "ftp://x"}, "not reached by http or https"),
        ({"server": "https://:443"}, "names no host"),
        ({"server": "https://a:99999"}, "is no URL: Port out of range"),
        ({"server": "https://a:0"}, "names no port"),
        ({"server": "https://a b"}, "has a blank"),
        ({"server": "https://a?b=c"}, "has more than a host"),
        ({"server": None}, "has no server"),
        ({"server": 5}, "is a number; it must be a string"),
        ({"proxy-url": "nonsense"}, "the proxy 'nonsense' is not reached by http or https"),
        ({"proxy-url": "socks5://127.0.0.1:2"}, "the proxy 'socks5://127.0.0.1:2' is not reached by http"),
    ],
)
async def test_an_address_that_can_never_be_reached_is_refused(
    tmp_path: Path, cluster: dict[str, Any], why: str
) -> None:
    assert why in await refusal(tmp_path / "config", cluster=cluster)


@pytest.mark.parametrize(
    ("user", "why"),
    [
        ({"token": "a\nb"}, "the token has a line break"),
        ({"token": "ä"}, "not ASCII"),
        ({"token": 123}, "token in users[0]"),
        ({"username": "u"}, "no whole credentials"),
        ({"as-groups": ["g"]}, "need an `as`"),
        ({"token": "a", "as": "bob", "as-groups": "g"}, "it must be a list of strings"),
        ({"token": "a", "as": "bob", "as-user-extra": {"k": "v"}}, "it must be a map of lists of strings"),
        ({"token": "a", "as": "bob\nX: y"}, "the Impersonate-User has a line break"),
    ],
)
async def test_credentials_that_cannot_be_sent_are_refused(
    tmp_path: Path, user: dict[str, Any], why: str
) -> None:
    assert why in await refusal(tmp_path / "config", user=user)


async def test_an_empty_token_file_is_refused_and_a_line_break_at_its_end_is_none_of_the_token(
    tmp_path: Path,
) -> None:
    token = tmp_path / "token"
    token.write_text("")
    assert "is empty; put a token there" in await refusal(tmp_path / "config", user={"tokenFile": "token"})
    token.write_text("secret\n")
    loaded = await read_kubeconfig(str(tmp_path / "config"))
    assert loaded.authorization() == "Bearer secret"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty; a kubeconfig has clusters, contexts and users"),
        ("- a", "is a list, not a map"),
        ("hello", "is a string, not a map"),
        ("clusters: 5", "clusters of .* is a number; it must be a list"),
        ("users: [{user: {}}]", r"users\[0\] of .* has no name"),
        ("current-context: 5", "current-context of .* is a number"),
        ("clusters: []", "names no current-context"),
    ],
)
async def test_a_file_of_the_wrong_shape_is_told_in_a_sentence(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(ConfigError, match=why):
        await read_kubeconfig(str(tmp_path / "config"))


async def test_a_context_that_means_nobody_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "config")
    path.write_text(path.read_text().replace("user: here", "user: nobody"))
    with pytest.raises(ConfigError, match="means the user nobody, which none of the files has"):
        await read_kubeconfig(str(path))


async def test_who_is_to_be_impersonated_is_in_the_headers(tmp_path: Path) -> None:
    user = {
        "token": "a",
        "as": "bob",
        "as-uid": "7",
        "as-groups": ["dev", "ops"],
        "as-user-extra": {"Example.com/Scope": ["x", "y"]},
    }
    loaded = await read_kubeconfig(str(write(tmp_path / "config", user=user)))
    assert loaded.endpoint.impersonation == (
        ("Impersonate-User", "bob"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-example.com%2Fscope", "x"),
        ("Impersonate-Extra-example.com%2Fscope", "y"),
    )


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'log in first' >&2; exit 3", "gave no credentials: it ended with exit code 3. log in first"),
        ("echo hello", "failed to decode process output"),
        ("true", "failed to decode process output"),
    ],
)
async def test_what_a_failed_plugin_said_is_in_the_error_and_nowhere_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, script: str, why: str
) -> None:
    with caplog.at_level(logging.DEBUG, "kubernetes"):
        text = await refusal(tmp_path / "config", user=failing(tmp_path, script))
    assert why in text
    assert str(tmp_path / "plugin") in text
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("host", ["127.0.0.1:1", "ftp://x", "https://a:99999", ""])
async def test_a_host_that_was_given_is_held_to_the_same(host: str, tmp_path: Path) -> None:
    config = ClientConfig(host=host, kubeconfig=str(tmp_path / "none"))
    with pytest.raises(ConfigError):
        await load(config, environ={}, monotonic=lambda: 0.0)


async def test_the_environment_s_proxy_is_held_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:2")
    loaded = await read_kubeconfig(str(write(tmp_path / "config")))
    with pytest.raises(ConfigError, match=r"HTTPS_PROXY cannot be used: the proxy 'socks5:"):
        Link(loaded)


def test_a_token_file_of_several_lines_is_no_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("a\nb")
    with pytest.raises(ConfigError, match="none that fits a line"):
        TokenFile(path, reread_seconds=60, monotonic=lambda: 0.0)


@pytest.mark.scripted
async def test_requests_of_one_who_acts_as_another_say_so(server: ScriptedServer, tmp_path: Path) -> None:
    server.on(lambda _: True, answer({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}))
    user = {"token": "secret", "as": "bob"}
    path = write(tmp_path / "config", user=user, cluster={"server": server.url})
    async with await Client.connect(ClientConfig(kubeconfig=str(path))) as client:
        await client.get(Resource("", "v1", "Pod", "pods"), "a")
    (seen,) = server.requests
    assert (seen.headers["authorization"], seen.headers["impersonate-user"]) == ("Bearer secret", "bob")

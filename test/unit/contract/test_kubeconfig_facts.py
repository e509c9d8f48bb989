# SPDX-License-Identifier: Apache-2.0
"""The official loader of kubeconfigs, as far as `runtime/client/kubeconfig.py` goes by it."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from test.unit.contract.facts import official, relied_on, stood_in
from test.unit.contract.kubeconfigs import SERVER, load, write

if TYPE_CHECKING:
    from pathlib import Path

READ = "runtime/client/kubeconfig.py: read_kubeconfig"
ENDPOINT = "runtime/client/kubeconfig.py: _endpoint"


async def test_a_loader_fills_the_configuration_that_it_is_given(tmp_path: Path) -> None:
    with relied_on("load_kube_config(config_file, client_configuration) fills that Configuration", by=READ):
        configuration, _ = await load(write(tmp_path / "config", cluster={"server": f"{SERVER}/"}))
        assert configuration.host == SERVER


async def test_what_a_kubeconfig_leaves_out_is_none(tmp_path: Path) -> None:
    with relied_on("a Configuration says None or True for what the kubeconfig leaves out", by=ENDPOINT):
        configuration, _ = await load(write(tmp_path / "config"))
        assert configuration.ssl_ca_cert is None
        assert (configuration.cert_file, configuration.key_file) == (None, None)
        assert configuration.api_key.get("BearerToken") is None
        assert configuration.verify_ssl is True
        assert (configuration.tls_server_name, configuration.proxy) == (None, None)


async def test_tls_and_proxy_of_a_cluster_have_their_attributes(tmp_path: Path) -> None:
    cluster = {
        "insecure-skip-tls-verify": True,
        "tls-server-name": "other.example",
        "proxy-url": "http://proxy.example:3128",
    }
    with relied_on("verify_ssl, tls_server_name and proxy say what the cluster's entry says", by=ENDPOINT):
        configuration, _ = await load(write(tmp_path / "config", cluster=cluster))
        assert configuration.verify_ssl is False
        assert configuration.tls_server_name == "other.example"
        assert configuration.proxy == "http://proxy.example:3128"


async def test_relative_paths_are_meant_from_the_kubeconfigs_folder(tmp_path: Path) -> None:
    for name in ("ca", "cert", "key"):
        (tmp_path / name).write_text(name)
    path = write(
        tmp_path / "config",
        user={"client-certificate": "cert", "client-key": "key"},
        cluster={"certificate-authority": "ca"},
    )
    with relied_on(
        "ssl_ca_cert, cert_file and key_file are paths, from the kubeconfig's folder", by=ENDPOINT
    ):
        configuration, _ = await load(path)
        assert configuration.ssl_ca_cert == str(tmp_path / "ca")
        assert configuration.cert_file == str(tmp_path / "cert")
        assert configuration.key_file == str(tmp_path / "key")


async def test_inline_data_becomes_files(tmp_path: Path) -> None:
    data = {name: base64.b64encode(name.encode()).decode() for name in ("ca", "cert", "key")}
    path = write(
        tmp_path / "config",
        user={"client-certificate-data": data["cert"], "client-key-data": data["key"]},
        cluster={"certificate-authority-data": data["ca"]},
    )
    with relied_on("certificates that stand in the kubeconfig are written to files", by=ENDPOINT):
        configuration, _ = await load(path)
        files = (configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file)
        assert [_text(each) for each in files] == ["ca", "cert", "key"]


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - what the loader gives is text
        return file.read()


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ({"token": "secret"}, "Bearer secret"),
        ({"tokenFile": "token"}, "Bearer from a file"),
        ({"username": "me", "password": "word"}, "Basic " + base64.b64encode(b"me:word").decode()),
    ],
    ids=["token", "tokenFile", "password"],
)
async def test_credentials_are_an_authorization_header(
    tmp_path: Path, user: dict[str, Any], header: str
) -> None:
    (tmp_path / "token").write_text("from a file")
    with relied_on("api_key['BearerToken'] is the whole Authorization header", by=ENDPOINT):
        configuration, _ = await load(write(tmp_path / "config", user=user))
        assert configuration.api_key["BearerToken"] == header


async def test_an_oidc_users_id_token_is_taken(tmp_path: Path) -> None:
    claims = base64.urlsafe_b64encode(b'{"exp": 9999999999}').decode().rstrip("=")
    user = {"auth-provider": {"name": "oidc", "config": {"id-token": f"a.{claims}.c"}}}
    with relied_on("an auth-provider's token comes as api_key['BearerToken'] too", by=ENDPOINT):
        configuration, _ = await load(write(tmp_path / "config", user=user))
        assert configuration.api_key["BearerToken"] == f"Bearer a.{claims}.c"


async def test_the_loader_tells_which_context_it_took(tmp_path: Path) -> None:
    with relied_on(
        "several files are read as one, and current_context['context'] is the chosen one", by=READ
    ):
        _, loader = await load(_two_files(tmp_path), context="here")
        assert loader.current_context["context"].get("user") == "here"
        assert loader.current_context["context"]["namespace"] == "in-here"


async def test_of_several_current_contexts_the_last_is_taken(tmp_path: Path) -> None:
    trap = "of several files' current contexts the last is taken, where kubectl takes the first"
    with stood_in(trap, by="runtime/client/kubeconfig.py: _current_context"):
        _, loader = await load(_two_files(tmp_path))
        assert loader.current_context["name"] == "there"


def _two_files(folder: Path) -> str:
    first, second = write(folder / "a"), write(folder / "b" / "c", name="there")
    return os.pathsep.join((str(first), str(second)))


async def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "config", user={"token": "secret"})
    monkeypatch.setenv("HOME", str(tmp_path))
    with relied_on("a tilde in a path means the home folder", by=READ):
        configuration, _ = await load("~/config")
        assert configuration.api_key["BearerToken"] == "Bearer secret"


async def test_a_context_that_is_not_there_is_the_loaders_own_error(tmp_path: Path) -> None:
    async def loaded() -> None:
        with pytest.raises(official("kubernetes.aio.config").ConfigException, match="elsewhere"):
            await load(write(tmp_path / "config"), context="elsewhere")

    with relied_on("kubernetes.aio.config.ConfigException tells of a context that is not there", by=READ):
        await loaded()


@pytest.mark.parametrize("content", ["", "x: [", "[]", "a: b", "clusters: []\ncontexts: []\nusers: []\n"])
async def test_files_of_a_wrong_shape_raise_what_we_know_of(tmp_path: Path, content: str) -> None:
    (tmp_path / "config").write_text(content)
    known = (yaml.YAMLError, OSError, ValueError, KeyError, TypeError, AttributeError)

    async def loaded() -> None:
        with pytest.raises((official("kubernetes.aio.config").ConfigException, *known)):
            await load(tmp_path / "config")

    with relied_on("a file of a wrong shape raises one of the errors that _LOADER_BUGS lists", by=READ):
        await loaded()


async def test_reading_changes_neither_the_file_nor_what_other_clients_get(tmp_path: Path) -> None:
    path = write(tmp_path / "config", user={"token": "secret"})
    before = path.read_bytes()
    with relied_on("persist_config=False writes nothing, and no default Configuration is set", by=READ):
        default = official().Configuration.get_default_copy().host
        await load(path)
        assert path.read_bytes() == before
        assert official().Configuration.get_default_copy().host == default

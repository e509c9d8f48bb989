# SPDX-License-Identifier: Apache-2.0
"""Kubeconfigs as kubectl would read them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from dglop.errors import ConfigError
from dglop.runtime.client.endpoint import Endpoint
from dglop.runtime.client.kubeconfig import read_kubeconfig
from test.unit.contract.kubeconfigs import SERVER, plugin, write

if TYPE_CHECKING:
    from pathlib import Path


async def test_all_that_a_kubeconfig_says_of_a_cluster_is_in_the_endpoint(tmp_path: Path) -> None:
    for name in ("ca", "cert", "key"):
        (tmp_path / name).write_text(name)
    path = write(
        tmp_path / "config",
        user={"token": "secret", "client-certificate": "cert", "client-key": "key"},
        cluster={
            "certificate-authority": "ca",
            "insecure-skip-tls-verify": True,
            "tls-server-name": "other.example",
            "proxy-url": "http://proxy.example:3128",
        },
    )
    loaded = await read_kubeconfig(str(path))
    assert loaded.endpoint == Endpoint(
        host=SERVER,
        ca_file=str(tmp_path / "ca"),
        cert_file=str(tmp_path / "cert"),
        key_file=str(tmp_path / "key"),
        authorization="Bearer secret",
        verify=False,
        server_name="other.example",
        proxy="http://proxy.example:3128",
    )
    assert (loaded.namespace, loaded.expires, len(loaded.files)) == ("in-here", None, 3)


async def test_of_several_kubeconfigs_the_first_one_says_the_current_context(tmp_path: Path) -> None:
    both = os.pathsep.join((str(write(tmp_path / "a")), str(write(tmp_path / "b", name="there"))))
    assert (await read_kubeconfig(both)).namespace == "in-here"
    assert (await read_kubeconfig(both, context="there")).namespace == "in-there"


async def test_a_plugin_that_gives_a_certificate_needs_no_token(tmp_path: Path) -> None:
    user = plugin(tmp_path, {"clientCertificateData": "CERT", "clientKeyData": "KEY"})
    loaded = await read_kubeconfig(str(write(tmp_path / "config", user=user)))
    assert loaded.endpoint.cert_file
    assert loaded.authorization() is None


async def test_the_plugin_of_a_user_in_a_later_file_is_seen_too(tmp_path: Path) -> None:
    first = write(tmp_path / "a", user={"token": "secret"})
    second = write(tmp_path / "b", user=plugin(tmp_path, None, code=1), name="there")
    both = os.pathsep.join((str(first), str(second)))
    with pytest.raises(ConfigError, match="gave no credentials"):
        await read_kubeconfig(both, context="there")

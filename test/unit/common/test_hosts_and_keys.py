# SPDX-License-Identifier: Apache-2.0
"""Host files, the script that discovers hosts, ssh keys, and the operator's key that they come from."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest

from dglop.common.delivery import delivery_container
from dglop.common.hostfile import MPIImplementation, discover_script, hostfile
from dglop.common.key import OperatorKey
from dglop.common.ssh import require_cryptography, ssh_keys, ssh_secret
from dglop.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.runtime.client import Client


@pytest.mark.parametrize(
    ("implementation", "text"),
    [
        (MPIImplementation.OPEN_MPI, "a slots=2\nb slots=2\n"),
        (MPIImplementation.INTEL, "a:2\nb:2\n"),
        (MPIImplementation.MPICH, "a:2\nb:2\n"),
    ],
)
def test_a_host_file_names_hosts_and_their_slots(implementation: MPIImplementation, text: str) -> None:
    assert hostfile(["a", "b"], 2, implementation) == text
    assert hostfile([], 2, implementation) == ""


@pytest.mark.parametrize("implementation", list(MPIImplementation))
def test_the_script_prints_the_hosts_that_have_an_address_now(
    implementation: MPIImplementation, tmp_path: Path
) -> None:
    hosts = tmp_path / "hostfile"
    hosts.write_text(hostfile(["up-0.g.t.svc", "down.g.t.svc", "up-1.g.t.svc"], 2, implementation))
    getent = tmp_path / "getent"
    getent.write_text('#!/bin/sh\ncase "$2" in up-*) echo "10.0.0.1 $2" ;; *) exit 2 ;; esac\n')
    getent.chmod(0o755)
    script = discover_script(str(hosts))
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["sh"], input=script, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["up-0.g.t.svc", "up-1.g.t.svc"]


def test_a_seed_gives_one_pair_of_keys_and_a_short_one_is_refused() -> None:
    keys = ssh_keys(b"s" * 32)
    assert keys == ssh_keys(b"s" * 32)
    assert keys.public != ssh_keys(b"t" * 32).public
    assert keys.private.startswith("-----BEGIN EC PRIVATE KEY-----\n")
    assert keys.public.startswith("ecdsa-sha2-nistp521 ")
    assert keys.private not in repr(keys)
    with pytest.raises(ValueError, match="needs 32 bytes or more, not 3"):
        ssh_keys(b"abc")


def test_the_secret_carries_the_jobs_uid_in_its_name() -> None:
    assert ssh_secret("g", "0f8fad5b-d9cb", b"s" * 32)["metadata"] == {"name": "g-ssh-0f8fad5b"}


def test_without_the_library_for_keys_the_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(ConfigError, match=r"install dglop\[tls\]"):
        require_cryptography()


class _Secrets:
    """A client that makes what it is asked to."""

    namespace = "system"

    async def create(self, manifest: dict[str, Any]) -> dict[str, Any]:
        return manifest


async def test_a_jobs_seed_is_its_own_and_comes_from_the_key_alone() -> None:
    seeds = []
    for letter in (b"k", b"k", b"l"):
        made = OperatorKey("", partial(letter.__mul__, 32))
        await made.load(cast("Client", _Secrets()))
        seeds.append(made.seed("uid"))
        assert made.seed("other") != seeds[-1]
        with pytest.raises(ValueError, match="a job without a UID has no seed"):
            made.seed("")
    assert seeds[0] == seeds[1] != seeds[2]
    assert len(seeds[0]) == 64


def test_there_is_no_seed_before_the_key_is_loaded() -> None:
    with pytest.raises(ConfigError, match="not loaded yet"):
        OperatorKey("", bytes).seed("uid")


def test_a_container_of_the_operators_image_runs_under_the_restricted_policy() -> None:
    made = delivery_container("x", "image", ["cp"], [])
    context = made["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["allowPrivilegeEscalation"] is False
    assert made["resources"]["limits"]["memory"] == "64Mi"

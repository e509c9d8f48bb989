# SPDX-License-Identifier: Apache-2.0
"""The operator of all kinds under the rights that the components give it, and no others."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from hack.overlay import overlay_with
from test.envtest.audit import AuditLog, Request, granted, unused
from test.envtest.kinds.lives import KindLives
from test.envtest.kinds.world import KINDS
from test.envtest.underrights import install_rights, operator_under, refused, rendered, token_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dglop.testing.envtest import Envtest

_SECONDS = 100  # only ends what hangs
_FLAGS = ("--metrics-bind=0", "--health-bind=0", "--progress-bind=0")
_COMPONENTS = {
    "default": ("pytorchjob", "mpijob"),
    "namespaced": ("pytorchjob-namespaced", "mpijob-namespaced"),
}


def _kinds_flags(manifests: list[dict[str, Any]]) -> list[str]:
    deployment = next(each for each in manifests if each["kind"] == "Deployment")
    args = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    return [each for each in args if each.startswith("--kinds")]


def _met(asked: set[Request]) -> bool:
    """Whether the operator has found jobs of both kinds changed under its hands, and has read them anew."""
    return {"pytorchjobs", "mpijobs"} <= {each.resource for each in asked if each.verb == "get"}


async def _live(lives: KindLives, kubeconfig: Path, log: Path, flags: Sequence[str], met: Any) -> None:
    """Whole lives of jobs, under two operators, one after the other."""
    await lives.begin()
    async with lives.kubelet.at_work():
        async with operator_under(kubeconfig, log, flags):
            await lives.until_met(met)
            await lives.until_suspended()
        async with operator_under(kubeconfig, log, flags):
            await lives.to_the_end()


@pytest.mark.parametrize("overlay", ["default", "namespaced"])
async def test_the_rights_of_the_components_are_enough_and_all_are_needed(
    strict: Envtest, audit: AuditLog, tmp_path: Path, overlay: str
) -> None:
    manifests = rendered(overlay_with(tmp_path, *_COMPONENTS[overlay], overlay=overlay))
    log = tmp_path / "operator.log"
    account = next(each for each in manifests if each["kind"] == "ServiceAccount")["metadata"]
    home = account["namespace"]
    user = f"system:serviceaccount:{home}:{account['name']}"
    rights = [each for each in granted(manifests, user) if each.role.endswith("job-manager-role")]
    assert {each.role for each in rights} == {"dglop-pytorchjob-manager-role", "dglop-mpijob-manager-role"}
    async with await Client.connect(ClientConfig(kubeconfig=str(strict.kubeconfig))) as client:
        await install_crds(client, [KINDS["PyTorchJob"], KINDS["MPIJob"]], SystemClock())
        await install_rights(client, manifests)
        place = home if overlay == "namespaced" else "default"
        kubeconfig = strict.kubeconfig_for(await token_of(client, home, account["name"]), overlay)
        flags = [*_FLAGS, *_kinds_flags(manifests), f"--leader-election-namespace={home}"]
        flags += [f"--namespace={home}"] if overlay == "namespaced" else []
        try:
            async with asyncio.timeout(_SECONDS):
                lives = KindLives(client, place)
                await _live(lives, kubeconfig, log, flags, lambda: _met(audit.of(user)))
        except TimeoutError:
            pytest.fail(f"the jobs do not end; refused: {refused(audit.of(user))}\n{log.read_text()}")
    asked = audit.of(user)
    assert refused(asked) == set()
    assert unused(rights, asked) == set()

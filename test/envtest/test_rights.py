# SPDX-License-Identifier: Apache-2.0
"""The operator under the rights that are shipped, for the whole cluster and for one namespace."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.client import Client, ClientConfig
from test.envtest.audit import AuditLog, Request, granted, unused
from test.envtest.lives import Lives
from test.envtest.underrights import install_rights, operator_under, refused, rendered, token_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.testing.envtest import Envtest

_CONFIG = Path(__file__).resolve().parents[2] / "config"
_SECONDS = 100  # only ends what hangs


def _met(asked: set[Request]) -> bool:
    """Whether the operator has found a job changed under its hands, and has read it anew."""
    return any((each.resource, each.verb) == ("dgljobs", "get") for each in asked)


async def _live(lives: Lives, kubeconfig: Path, log: Path, flags: Sequence[str], conflict: Any) -> None:
    """Whole lives of jobs, under two operators, one after the other."""
    await lives.begin()
    async with lives.kubelet.at_work():
        async with operator_under(kubeconfig, log, flags):
            await lives.until_suspended()
            await lives.report_progress_until(conflict)
        async with operator_under(kubeconfig, log, flags):
            await lives.to_the_end()


@pytest.mark.parametrize("overlay", ["default", "namespaced"])
async def test_the_shipped_rights_are_enough_and_all_are_needed(
    strict: Envtest, audit: AuditLog, tmp_path: Path, overlay: str
) -> None:
    manifests, log = rendered(_CONFIG / overlay), tmp_path / "operator.log"
    account = next(each for each in manifests if each["kind"] == "ServiceAccount")["metadata"]
    home, is_namespaced = account["namespace"], overlay == "namespaced"
    user = f"system:serviceaccount:{home}:{account['name']}"
    place, other = (home, "elsewhere") if is_namespaced else ("elsewhere", "")
    rights = granted(manifests, user)
    assert rights
    assert not is_namespaced or all(each.namespace == home for each in rights)
    async with await Client.connect(ClientConfig(kubeconfig=str(strict.kubeconfig))) as client:
        await install_rights(client, manifests)
        lives = Lives(client, place, other)
        kubeconfig = strict.kubeconfig_for(await token_of(client, home, account["name"]), overlay)
        flags = [*lives.flags, "--leader-elect", f"--leader-election-namespace={home}"]
        flags += [f"--namespace={home}"] if is_namespaced else []
        try:
            async with asyncio.timeout(_SECONDS):
                await _live(lives, kubeconfig, log, flags, lambda: _met(audit.of(user)))
        except TimeoutError:
            pytest.fail(f"the jobs do not end; refused: {refused(audit.of(user))}\n{log.read_text()}")
        if is_namespaced:
            assert await lives.is_other_untouched(), "touched a job of another namespace"
    asked = audit.of(user)
    assert refused(asked) == set()
    assert unused(rights, asked) == set()

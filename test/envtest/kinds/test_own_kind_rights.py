# SPDX-License-Identifier: Apache-2.0
"""A job kind of one's own, as a program of its own, under the rights that `dglop manifests` prints for it."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from dglop.cli.main import main
from dglop.common import Volcano
from dglop.common.kueue.names import FLAVOR, WORKLOAD, WORKLOAD_PRIORITY
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from dglop.testing.loosecrd import loose_crd
from examples.xgboostjob import XGBoostJob
from test.envtest.audit import AuditLog, granted, unused
from test.envtest.kinds.lives import KindLives
from test.envtest.kinds.queue import QueueLife
from test.envtest.underrights import install_rights, operator_under, refused, token_of
from test.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from dglop.testing.envtest import Envtest

_SECONDS = 100  # only ends what hangs
_HOME = "xgboostjob-system"
_USER = f"system:serviceaccount:{_HOME}:xgboostjob"
_PROGRAM = (str(ROOT / "examples" / "xgboostjob.py"),)
_OFF = ("--metrics-bind=0", "--health-bind=0")
_KUEUE = (FLAVOR, WORKLOAD, WORKLOAD_PRIORITY)
_CRDS = [loose_crd(Volcano.resource, has_status=False), *map(loose_crd, _KUEUE)]


def _printed(capsys: pytest.CaptureFixture[str], flags: Sequence[str]) -> list[dict[str, Any]]:
    # its Manager takes flags for gangs and queues once only
    sys.modules.pop("examples.xgboostjob")
    assert main(["manifests", "examples.xgboostjob:manager", "--home", _HOME, "--", *flags]) == 0
    return list(yaml.safe_load_all(capsys.readouterr().out))


async def _kubeconfig(strict: Envtest, client: Client, manifests: list[dict[str, Any]]) -> Path:
    """Of an account that may do what the manifests say, and no more."""
    await install_rights(client, manifests)
    return strict.kubeconfig_for(await token_of(client, _HOME, "xgboostjob"), "own")


async def _in_time(work: Awaitable[None], audit: AuditLog, log: Path) -> None:
    try:
        async with asyncio.timeout(_SECONDS):
            await work
    except TimeoutError:
        pytest.fail(f"the jobs do not end; refused: {refused(audit.of(_USER))}\n{log.read_text()}")  # noqa: ASYNC240


async def _live(lives: KindLives, operator: Callable[[], Any], met: Callable[[], bool]) -> None:
    """Whole lives of jobs, under two operators, one after the other."""
    await lives.begin()
    async with lives.kubelet.at_work():
        async with operator():
            await lives.until_met(met)
            await lives.until_suspended()
        async with operator():
            await lives.to_the_end()


@pytest.mark.parametrize("place", ["", "team"])
async def test_the_printed_rights_are_enough_and_all_are_needed(
    strict: Envtest, audit: AuditLog, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, place: str
) -> None:
    flags = ["--leader-elect", f"--leader-election-namespace={_HOME}", f"--namespace={place}"]
    manifests, log = _printed(capsys, flags), tmp_path / "operator.log"
    rights = [each for each in granted(manifests, _USER) if each.role == "xgboostjob"]
    assert rights
    assert {each.namespace for each in rights} == {place}
    async with await Client.connect(ClientConfig(kubeconfig=str(strict.kubeconfig))) as client:
        await install_crds(client, [XGBoostJob], SystemClock())
        if place:
            await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}})
        kubeconfig = await _kubeconfig(strict, client, manifests)
        lives = KindLives(client, place or "default", ("XGBoostJob",))

        def met() -> bool:
            """Whether it has found a job changed under its hands, and has read it anew."""
            return any((each.resource, each.verb) == ("xgboostjobs", "get") for each in audit.of(_USER))

        def operator() -> Any:
            return operator_under(kubeconfig, log, [*_OFF, *flags], program=_PROGRAM)

        await _in_time(_live(lives, operator, met), audit, log)
    asked = audit.of(_USER)
    assert refused(asked) == set()
    assert unused(rights, asked) == set()


@pytest.mark.parametrize("place", ["", "team"])
async def test_the_rights_that_are_printed_for_gangs_and_queues_are_enough(
    strict: Envtest, audit: AuditLog, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, place: str
) -> None:
    flags = ["--gang-scheduler=volcano", "--kueue", f"--namespace={place}"]
    manifests, log = _printed(capsys, flags), tmp_path / "operator.log"
    async with await Client.connect(ClientConfig(kubeconfig=str(strict.kubeconfig))) as client:
        await install_crds(client, [XGBoostJob], SystemClock(), manifests=_CRDS)
        if place:
            await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}})
        kubeconfig = await _kubeconfig(strict, client, manifests)
        life = QueueLife(client, place or "default")
        async with operator_under(kubeconfig, log, [*_OFF, *flags], program=_PROGRAM):
            await _in_time(life.live(), audit, log)
    asked = audit.of(_USER)
    assert refused(asked) == set()
    done = {(each.resource, each.verb) for each in asked}
    assert {(each, verb) for each in ("podgroups", "workloads") for verb in ("create", "delete")} <= done
    assert {("xgboostjobs", "patch"), ("workloads/status", "patch"), ("priorityclasses", "get")} <= done

# SPDX-License-Identifier: Apache-2.0
"""The one cluster that all end-to-end tests share, and a namespace of its own for each of them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from hack import stack as hack_stack
from hack.cluster.report import choose_report
from test.e2e.executioner import Executioner
from test.e2e.jobs import Jobs
from test.e2e.kubectl import Kubectl

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from hack.stack import Stack


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "test/e2e/" in item.nodeid:
            item.add_marker(pytest.mark.e2e)
            # A hung cluster ends the test with its stack; a slow one does not.
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def stack() -> Stack:
    """The cluster with the shipped operator in it; brought up if it is not."""
    return hack_stack.bring_up(choose_report())


@pytest.fixture(scope="session")
def kubectl(stack: Stack) -> Kubectl:
    return Kubectl(binary=stack.kubectl, kubeconfig=stack.kubeconfig)


@pytest.fixture
def namespace(kubectl: Kubectl, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace that lives as long as the test; on a failure its objects are printed first."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower())
    name = f"e2e-{words[:40].strip('-')}-{hash(request.node.nodeid) & 0xFFFF:04x}"
    kubectl.run("delete", "namespace", name, "--ignore-not-found", "--wait")
    kubectl.run("create", "namespace", name)
    yield name
    report = request.node.stash.get(REPORT, None)
    if report is not None and report.failed:
        for what in (["dgljobs,pods,services,events", "-o", "wide"], ["dgljobs", "-o", "yaml"]):
            sys.stdout.write(kubectl.run("get", *what, "-n", name, check=False).stdout)
    kubectl.run("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session")
def executioner(kubectl: Kubectl, stack: Stack) -> Iterator[Executioner]:
    made = Executioner(kubectl, stack.dgl_image)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def jobs(kubectl: Kubectl, stack: Stack, namespace: str) -> Jobs:
    return Jobs(kubectl=kubectl, namespace=namespace, image=stack.dgl_image)


REPORT = pytest.StashKey[pytest.TestReport]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[REPORT] = report
    return report

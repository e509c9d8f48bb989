# SPDX-License-Identifier: Apache-2.0
"""The one cluster that all end-to-end tests share, and a namespace of its own for each of them."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from hack import images
from hack import stack as hack_stack
from hack.cluster import choose_provider
from hack.cluster.report import choose_report
from hack.overlay import overlay_with
from test.e2e.executioner import Executioner
from test.e2e.jobs import Jobs
from test.e2e.kinds import KindJobs
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
        served = kubectl.out("api-resources", "--api-group=kubeflow.org", "-o", "name").split()
        kinds = ",".join(served)
        for what in ([f"{kinds},pods,services,events", "-o", "wide"], [kinds, "-o", "yaml"]):
            sys.stdout.write(kubectl.run("get", *what, "-n", name, check=False).stdout)
    kubectl.run("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session")
def executioner(kubectl: Kubectl, stack: Stack) -> Iterator[Executioner]:
    made = Executioner(kubectl, stack.dgl_image)
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def all_kinds(stack: Stack, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The shipped operator runs all kinds, by their components; afterwards it is as it was."""
    overlay = overlay_with(tmp_path_factory.mktemp("kinds"), "pytorchjob", "mpijob")
    hack_stack.install(stack, str(overlay))
    yield
    shipped = {_identity(each) for each in hack_stack.render(stack)}
    more = [each for each in hack_stack.render(stack, str(overlay)) if _identity(each) not in shipped]
    hack_stack.install(stack)
    text = "\n---\n".join(json.dumps(each) for each in more)
    kubectl.run("delete", "--ignore-not-found", "-f", "-", stdin=text)


def _identity(document: dict[str, Any]) -> tuple[str, str]:
    return document["kind"], document["metadata"]["name"]


@pytest.fixture(scope="session")
def mpi_image(stack: Stack) -> str:
    """The image with Open MPI and sshd, built where it is not, and known to the cluster."""
    [built] = images.build_images(choose_report(), ["openmpi"])
    return choose_provider().load(built.archive)


@pytest.fixture
def kind_jobs(kubectl: Kubectl, stack: Stack, mpi_image: str, namespace: str) -> KindJobs:
    images_here = {"dglop.local/dgl:dev": stack.dgl_image, "dglop.local/openmpi:dev": mpi_image}
    return KindJobs(kubectl, namespace, images_here)


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

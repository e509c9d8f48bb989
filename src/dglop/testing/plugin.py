# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests of operators: `pytest_plugins = ["dglop.testing.plugin"]` in a conftest.py."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from dglop.errors import ConfigError
from dglop.testing import EnvtestCluster, MemoryCluster, TestCluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from dglop import Manager
    from dglop.testing import Envtest

__all__ = ("all_namespaces", "cluster", "envtest", "manager", "memory_cluster")

_CHOICES = ("memory", "envtest")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which API server the fixture `cluster` is on."""
    parser.getgroup("dglop").addoption(
        "--cluster",
        choices=_CHOICES,
        default="memory",
        help="API server of the fixture `cluster`: in memory, or a real one, whose binaries are in "
        "KUBEBUILDER_ASSETS or on PATH",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Say at once, not in each test, that the binaries are missing."""
    if _chosen(config) == "envtest":
        try:
            _find_envtest()
        except ConfigError as problem:
            raise pytest.UsageError(f"--cluster=envtest: {problem}") from problem


@pytest.fixture(scope="session")
def envtest() -> Iterator[Envtest]:
    """A real etcd and kube-apiserver, which all tests share; started by the first that needs it."""
    started = _find_envtest()
    with asyncio.Runner() as runner:
        runner.run(started.__aenter__())
        try:
            yield started
        finally:
            runner.run(started.__aexit__(None, None, None))


@pytest_asyncio.fixture
async def memory_cluster() -> AsyncIterator[MemoryCluster]:
    """An in-memory API server and a clock that stands still, whatever `--cluster` says."""
    async with MemoryCluster() as made:
        yield made


@pytest.fixture
def all_namespaces() -> bool:
    """Whether `cluster` is not bound to a namespace of its own; to be overridden by one that returns True."""
    return False


@pytest.fixture(name="_chosen_cluster")
def _make_chosen_cluster(request: pytest.FixtureRequest, all_namespaces: bool) -> TestCluster:
    # Not in `cluster`: there a loop runs, and the envtest to be started has one of its own.
    if _chosen(request.config) == "envtest":
        return EnvtestCluster(request.getfixturevalue("envtest"), all_namespaces=all_namespaces)
    return MemoryCluster()


@pytest_asyncio.fixture
async def cluster(_chosen_cluster: TestCluster) -> AsyncIterator[TestCluster]:
    """An API server and a clock that the test moves: in memory, or with `--cluster=envtest` a real one."""
    async with _chosen_cluster:
        yield _chosen_cluster


@pytest_asyncio.fixture
async def manager(cluster: TestCluster) -> Manager:
    """A Manager on the fixture `cluster`, which starts when the test first uses `cluster.client` or time."""
    made = cluster.manager()
    cluster.run_later(made)
    return made


def _chosen(config: pytest.Config) -> str:
    # The option is unknown where a test module, and no conftest.py, names this plugin.
    return str(config.getoption("--cluster", default="memory"))


def _find_envtest() -> Envtest:
    try:
        from dglop.testing import Envtest  # noqa: PLC0415 - needs packages that memory does without
    except ModuleNotFoundError as problem:
        raise ConfigError(f"envtest needs the package {problem.name}: install dglop[testing]") from problem
    return Envtest()

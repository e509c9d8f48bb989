# SPDX-License-Identifier: Apache-2.0
"""With a Docker engine: it builds the operator's image, and a kind cluster of our own runs that image."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hack.cluster import choose_provider
from hack.cluster.commands import output
from hack.cluster.image import name_in
from hack.cluster.paths import cache_dir
from hack.cluster.report import choose_report
from hack.images import build_images
from test.e2e.kubectl import Kubectl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hack.cluster import Provider
    from hack.images import BuiltImage

pytestmark = pytest.mark.needs_docker

NAME = "dgloptest"


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    """A cache of its own, in which the programs are there already, and the images are not."""
    shared = cache_dir()
    with tempfile.TemporaryDirectory(prefix="dglop-") as folder:
        for name in ("bin", "go", "tools"):
            (shared / name).mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).symlink_to(shared / name)
        yield Path(folder)


@pytest.fixture(scope="module")
def operator(cache: Path) -> BuiltImage:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DGLOP_CACHE", str(cache))
        (built,) = build_images(choose_report(), ["operator"])
    return built


@pytest.fixture
def kind(cache: Path) -> Iterator[Provider]:
    """A second cluster beside the one that other tests share."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"DGLOP_CACHE": str(cache), "DGLOP_NAME": NAME, "DGLOP_PROVIDER": "kind"}
    provider = choose_provider({**os.environ, **own, "DGLOP_PORT_KWOK": str(port)})
    try:
        yield provider
    finally:
        provider.down(choose_report())


def test_docker_builds_the_operators_image(operator: BuiltImage) -> None:
    (seen,) = json.loads(output(["docker", "image", "inspect", operator.tag]))
    assert seen["Config"]["User"] == "65532:65532"
    assert seen["Config"]["Entrypoint"] == ["/opt/dglop/bin/dglop"]
    assert name_in(operator.archive) == operator.tag


def _pod(image: str) -> dict[str, Any]:
    main = {"name": "main", "image": image, "imagePullPolicy": "Never", "args": ["--help"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "helps", "namespace": "default"},
        "spec": {"restartPolicy": "Never", "containers": [main]},
    }


def test_a_kind_cluster_comes_up_runs_a_loaded_image_and_goes(
    kind: Provider, operator: BuiltImage, cache: Path
) -> None:
    kind.up(choose_report())
    assert kind.status().running
    kubectl = Kubectl(binary=kind.kubectl(), kubeconfig=kind.kubeconfig())
    image = kind.load(operator.archive)
    kubectl.until("pods may be made", lambda: kubectl.get("serviceaccount", "default", "default"))
    kubectl.apply(_pod(image))

    def ended() -> str | None:
        pod = kubectl.get("pod", "helps", "default")
        phase = pod["status"]["phase"] if pod else None
        return phase if phase in {"Succeeded", "Failed"} else None

    assert kubectl.until("the pod ends", ended) == "Succeeded"
    assert "usage: dglop" in kubectl.out("logs", "helps", "-n", "default")
    kind.down(choose_report())
    assert not kind.status().running
    assert list((cache / "kind").glob("*.json")) == []

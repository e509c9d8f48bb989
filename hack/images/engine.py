# SPDX-License-Identifier: Apache-2.0
"""What builds a Containerfile: Docker where its engine answers, else buildah on a Debian root of our own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from hack.cluster.commands import output, stream, succeeds
from hack.images.buildah import Buildah
from hack.images.tools import bound, install_builders, quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hack.images.model import Recipe

__all__ = ("Docker", "Engine", "choose_engine")


class Engine(Protocol):
    """Builds images and writes them into archives."""

    def base(self, recipe: Recipe, note: Callable[[str], None]) -> str | None:
        """The image to start from, made if it is not there; None for the Containerfile's own default."""

    def build(self, context: Path, tag: str, arguments: Mapping[str, str]) -> None:
        """Build `context`/Containerfile under the name `tag`."""

    def save(self, tag: str, archive: Path) -> None:
        """Write the image into an archive that `docker load` or containerd reads."""

    def tidy(self, recipe: Recipe, tag: str) -> None:
        """Drop earlier images of the recipe, and what only they needed."""


class Docker:
    """The Docker engine; bases are public images, fetched by it."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def base(self, recipe: Recipe, note: Callable[[str], None]) -> str | None:
        note(f"{recipe.name}: base image from its registry")
        return None

    def build(self, context: Path, tag: str, arguments: Mapping[str, str]) -> None:
        given = [f"--build-arg={name}={value}" for name, value in arguments.items()]
        argv = ["docker", "build", "--progress=plain", "--tag", tag, "--file", str(context / "Containerfile")]
        stream(bound([*argv, *given, str(context)]), quiet, log=self._log, env={"DOCKER_BUILDKIT": "1"})

    def save(self, tag: str, archive: Path) -> None:
        stream(bound(["docker", "save", "--output", str(archive), tag]), quiet, log=self._log)

    def tidy(self, recipe: Recipe, tag: str) -> None:
        listed = output(["docker", "image", "ls", "--format", "{{json .}}", recipe.repository])
        names = [f"{each['Repository']}:{each['Tag']}" for each in map(json.loads, listed.splitlines())]
        if old := [name for name in names if name != tag and not name.endswith(":<none>")]:
            succeeds(["docker", "image", "rm", *old])  # one that a container uses stays


def choose_engine(folder: Path, log: Path, note: Callable[[str], None]) -> Engine:
    """
    Docker where `docker info` succeeds, else buildah.

    Raises:
        ImageError: neither can be had here; the message says what to do.
    """
    if succeeds(["docker", "info"]):
        return Docker(log)
    install_builders(log, note)
    buildah = Buildah(folder, log)
    buildah.recover()
    return buildah

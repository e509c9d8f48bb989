# SPDX-License-Identifier: Apache-2.0
"""Builds images without an engine; its storage lies in the cache, apart from the host's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.commands import output, stream, succeeds
from hack.images.debian import DPKG, SUITE, read_packages, root_command
from hack.images.inputs import digest_files, digest_text
from hack.images.tools import bound, quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hack.images.model import Recipe

__all__ = ("Buildah", "mounted_below")

# stacking needs a file system that can carry it; where the cache lies on one that cannot, files are copied
STACKABLE = frozenset({"ext4", "ext3", "xfs", "btrfs", "ext2/ext3"})


def mounted_below(mountinfo: str, folder: Path) -> list[str]:
    """The mount points under `folder` in the text of /proc/self/mountinfo, innermost first."""
    points = [row.split()[4].replace("\\040", " ") for row in mountinfo.splitlines() if row]
    return sorted((point for point in points if Path(point).is_relative_to(folder)), reverse=True)


class Buildah:
    """Runs one build at a time; whoever uses it holds the lock of `folder`."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._folder = folder
        self._log = log
        kind = output(["stat", "--file-system", "--format", "%T", str(folder)]).strip()
        self._driver = "overlay" if kind in STACKABLE else "vfs"

    def _argv(self, command: str, *arguments: str) -> list[str]:
        storage = ["--root", str(self._folder / "storage"), "--runroot", str(self._folder / "run")]
        return ["buildah", *storage, "--storage-driver", self._driver, command, *arguments]

    def _run(self, command: str, *arguments: str) -> None:
        stream(bound(self._argv(command, *arguments)), quiet, log=self._log)

    @property
    def _scratch(self) -> Path:
        return self._folder / "scratch"

    def recover(self) -> None:
        """Clear what a build that was killed left: mounts, containers, half-made folders."""
        for point in mounted_below(Path("/proc/self/mountinfo").read_text(), self._folder):
            succeeds(["umount", "--lazy", point])
        if (self._folder / "storage").exists():
            self._run("rm", "--all")
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)

    def base(self, recipe: Recipe, note: Callable[[str], None]) -> str:
        packages = recipe.folder / "packages.txt"
        script = recipe.folder / "debian.sh" if recipe.script else None
        inputs = digest_files(recipe.folder, [packages, *([script] if script else [])])
        name = f"localhost/dglop-base-{recipe.name}"
        tag = f"{name}:{digest_text(SUITE, inputs, *DPKG)}"
        if not self._has(tag):
            self._make_base(recipe, script, tag, note)
        self._drop([each for each in self._tags(name) if each != tag])
        return tag

    def _make_base(self, recipe: Recipe, script: Path | None, tag: str, note: Callable[[str], None]) -> None:
        names = read_packages(recipe.folder / "packages.txt")
        note(f"{recipe.name}: Debian root with {len(names)} packages and what they need")
        container = output(self._argv("from", "--quiet", "scratch")).strip()
        target = Path(output(self._argv("mount", container)).strip())
        env = {"TMPDIR": str(self._scratch)}
        stream(bound(root_command(names, target, self._scratch, script)), quiet, log=self._log, env=env)
        self._run("umount", container)
        note(f"{recipe.name}: storing the Debian root")
        self._run("commit", "--quiet", "--rm", container, tag)

    def build(self, context: Path, tag: str, arguments: Mapping[str, str]) -> None:
        given = [f"--build-arg={name}={value}" for name, value in arguments.items()]
        self._run(
            "bud",
            "--isolation=chroot",
            "--layers",
            "--pull=false",
            *given,
            f"--tag={tag}",
            f"--file={context / 'Containerfile'}",
            str(context),
        )

    def save(self, tag: str, archive: Path) -> None:
        # uncompressed: reading and writing a gigabyte takes a third of the time that packing it does
        self._run("push", "--quiet", tag, f"docker-archive:{archive}:{tag}")

    def tidy(self, recipe: Recipe, tag: str) -> None:
        self._drop([each for each in self._tags(recipe.repository) if each != tag])

    def _has(self, tag: str) -> bool:
        return succeeds(self._argv("inspect", "--type", "image", tag))

    def _tags(self, repository: str) -> list[str]:
        listed = json.loads(output(self._argv("images", "--json")) or "[]") or []
        names = [name for each in listed for name in each.get("names") or ()]
        return [name for name in names if name.rpartition(":")[0] == repository]

    def _drop(self, tags: list[str]) -> None:
        for tag in tags:
            self._run("rmi", tag)
        if tags:
            self._run("rmi", "--prune")

# SPDX-License-Identifier: Apache-2.0
"""The folder that an image is built from: its Containerfile and everything that goes in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hack.images.inputs import LEFT_OUT, digest_files
from hack.images.model import ROOT
from hack.images.wheels import fetch_wheels, locked_requirements, project_wheel
from hack.zipapp import build_zipapp

if TYPE_CHECKING:
    from hack.images.model import Recipe

__all__ = ("make_context",)


def _link(source: str, target: str) -> str:
    """A hard link where the file system has them."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def _open_to_all(folder: Path) -> None:
    """Let anyone read what is copied into an image, whatever the umask of the checkout was."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _requirements(recipe: Recipe, uv: str) -> str:
    own = recipe.folder / "wheels.txt"
    return own.read_text() if own.exists() else locked_requirements(uv)


def make_context(recipe: Recipe, folder: Path, uv: str, log: Path) -> dict[str, str]:
    """
    Fill `folder`/context/<name> anew and return the build arguments that go with it.

    Wheels are kept in `folder`/wheels and fetched only where the pins changed.
    """
    context = folder / "context" / recipe.name
    shutil.rmtree(context, ignore_errors=True)
    context.mkdir(parents=True)
    shutil.copy2(recipe.folder / "Containerfile", context)
    arguments = {}
    if recipe.wheels:
        wheels, key = fetch_wheels(uv, _requirements(recipe, uv), folder / "wheels", log)
        shutil.copytree(wheels, context / "wheels", copy_function=_link)
        arguments["WHEELS"] = key
    if recipe.name == "operator":
        return {**arguments, **_operator(context, uv, log)}
    return {**arguments, **_debian(recipe, context)}


def _operator(context: Path, uv: str, log: Path) -> dict[str, str]:
    project = context / "project"
    project.mkdir()
    project_wheel(uv, project, log)
    build_zipapp(project / "dglrun.pyz")
    return {"PROJECT": digest_files(context, [project])}


def _debian(recipe: Recipe, context: Path) -> dict[str, str]:
    """What Debian gives, and the sample programs."""
    debian = context / "debian"
    debian.mkdir()
    for name in ("packages.txt", *(["debian.sh"] if recipe.script else [])):
        shutil.copy2(recipe.folder / name, debian)
    for sample in (Path(each) for each in recipe.sources if each.startswith("examples/")):
        shutil.copytree(ROOT / sample, context / sample, ignore=shutil.ignore_patterns(*LEFT_OUT))
    _open_to_all(context / "examples")
    return {"PACKAGES": digest_files(context, [debian])}

# SPDX-License-Identifier: Apache-2.0
"""Builds what has changed and finds what has not."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hack.cluster.paths import paths_from
from hack.images.archive import measure
from hack.images.context import make_context
from hack.images.engine import choose_engine
from hack.images.inputs import digest_files
from hack.images.model import RECIPES, ROOT, BuiltImage, ImageError, Recipe, megabytes
from hack.images.tools import find_uv, require_space

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hack.cluster.report import Report, Step
    from hack.images.engine import Engine

__all__ = ("announcement", "build_images", "check_limits", "known_image", "lacking", "wanted")

KEPT = 2  # archives of each image: the present one and the one before


def wanted(names: Sequence[str]) -> list[Recipe]:
    """The recipes of these names, all where none is named."""
    known = {recipe.name: recipe for recipe in RECIPES}
    if unknown := [name for name in names if name not in known]:
        raise ImageError(f"there is no image {', '.join(unknown)}: choose of {', '.join(known)}")
    return [recipe for recipe in RECIPES if not names or recipe.name in names]


def lacking(names: Sequence[str] = ()) -> list[Recipe]:
    """The images that would have to be built."""
    folder = paths_from().cache / "images"
    return [each for each in wanted(names) if not known_image(each, image_key(each), folder)]


def announcement(recipes: Sequence[Recipe]) -> str:
    """What will be built, and about how long that takes on two cores."""
    names = ", ".join(recipe.name for recipe in recipes)
    minutes = sum(recipe.minutes for recipe in recipes)
    return f"  to build: images {names}; about {minutes} min on two cores the first time"


def image_key(recipe: Recipe) -> str:
    """Twelve digits over all that the image is made of."""
    return digest_files(ROOT, [recipe.folder, *(ROOT / source for source in recipe.sources)])


def known_image(recipe: Recipe, key: str, folder: Path) -> BuiltImage | None:
    """The image built earlier from the same inputs; its sizes are written last, so it is whole."""
    archive = folder / f"{recipe.name}-{key}.tar"
    sizes = archive.with_suffix(".json")
    if not (archive.exists() and sizes.exists()):
        return None
    read = json.loads(sizes.read_text())
    tag = f"{recipe.repository}:{key}"
    return BuiltImage(recipe.name, tag, archive, read["unpacked_bytes"], read["compressed_bytes"])


def check_limits(image: BuiltImage, limits: tuple[int, int] | None) -> None:
    """ImageError where the image is larger than its recipe allows."""
    if limits and (image.unpacked_bytes > limits[0] or image.compressed_bytes > limits[1]):
        raise ImageError(
            f"the image is too large: {image}, where {megabytes(limits[0])} and {megabytes(limits[1])} "
            "are allowed: see which dependency grew, in uv.lock"
        )


@contextmanager
def _alone(folder: Path, step: Step) -> Iterator[None]:
    """Hold the folder's lock; a build under way elsewhere is waited for."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            step.note("waiting for another build to end")
            fcntl.flock(file, fcntl.LOCK_EX)
        mask = os.umask(0o022)  # what is made for an image must be readable by its user
        try:
            yield
        finally:
            os.umask(mask)


def _build(recipe: Recipe, key: str, folder: Path, engine: Engine, step: Step) -> BuiltImage:
    log = folder.with_suffix(".log")
    tag = f"{recipe.repository}:{key}"
    base = engine.base(recipe, step.note)
    step.note(f"{recipe.name}: {'wheels' if recipe.wheels else 'files'}")
    arguments = make_context(recipe, folder, find_uv(folder.parent), log)
    step.note(f"{recipe.name}: layers")
    engine.build(folder / "context" / recipe.name, tag, {**arguments, **({"BASE": base} if base else {})})
    step.note(f"{recipe.name}: archive")
    archive, half = folder / f"{recipe.name}-{key}.tar", folder / f"{recipe.name}-{key}.part"
    half.unlink(missing_ok=True)
    engine.save(tag, half)
    unpacked, compressed = measure(half, folder / "layers.json")
    image = BuiltImage(recipe.name, tag, archive, unpacked, compressed)
    check_limits(image, recipe.limits)
    half.rename(archive)
    archive.with_suffix(".json").write_text(
        json.dumps({"tag": tag, "unpacked_bytes": unpacked, "compressed_bytes": compressed})
    )
    engine.tidy(recipe, tag)
    _forget_old(recipe, folder)
    return image


def _forget_old(recipe: Recipe, folder: Path) -> None:
    archives = sorted(
        folder.glob(f"{recipe.name}-*.tar"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    for archive in archives[KEPT:]:
        archive.unlink()
        archive.with_suffix(".json").unlink(missing_ok=True)
    for half in folder.glob(f"{recipe.name}-*.part"):
        half.unlink()


def build_images(report: Report, names: Sequence[str] = ()) -> list[BuiltImage]:
    """
    Archives of the images, built where their inputs changed and silently taken where they did not.

    Raises:
        ImageError: something is missing that only the user can mend.
        ClusterError: a program failed; the message has its last lines, `<cache>/images.log` has all.
    """
    folder = paths_from().cache / "images"
    recipes = wanted(names)
    known = [known_image(recipe, image_key(recipe), folder) for recipe in recipes]
    if all(known):
        return [image for image in known if image]
    built: list[BuiltImage] = []
    with report.step("build") as step, _alone(folder, step):
        require_space(folder)
        engine = choose_engine(folder, folder.with_suffix(".log"), step.note)
        for recipe in recipes:
            key = image_key(recipe)  # again: sources may have changed while another build was waited for
            image = known_image(recipe, key, folder)
            built.append(image or _build(recipe, key, folder, engine, step))
        step.note(", ".join(image.short for image in built))
    return built

# SPDX-License-Identifier: Apache-2.0
"""What makes a new image and what does not."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING

import pytest

from hack.images.build import announcement, check_limits, image_key, known_image, wanted
from hack.images.inputs import digest_files, digest_text
from hack.images.model import RECIPES, ROOT, BuiltImage, ImageError, megabytes
from hack.images.wheels import EXTRAS, pip_version, platforms

if TYPE_CHECKING:
    from pathlib import Path

OPERATOR = next(recipe for recipe in RECIPES if recipe.name == "operator")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n")
    (tmp_path / "lock").write_text("1\n")
    return tmp_path


def test_contents_names_and_modes_count(tree: Path) -> None:
    before = digest_files(tree, [tree])
    seen = {before}
    (tree / "src" / "a.py").write_text("a = 2\n")
    seen.add(digest_files(tree, [tree]))
    (tree / "src" / "a.py").rename(tree / "src" / "b.py")
    seen.add(digest_files(tree, [tree]))
    (tree / "src" / "b.py").chmod(0o755)
    seen.add(digest_files(tree, [tree]))
    assert len(seen) == 4


def test_times_caches_and_order_do_not_count(tree: Path) -> None:
    before = digest_files(tree, [tree / "src", tree / "lock"])
    os.utime(tree / "lock", (1, 1))
    (tree / "src" / "__pycache__").mkdir()
    (tree / "src" / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"x")
    assert digest_files(tree, [tree / "lock", tree / "src"]) == before


def test_what_is_not_there_counts_as_nothing(tree: Path) -> None:
    assert digest_files(tree, [tree / "lock", tree / "gone"]) == digest_files(tree, [tree / "lock"])


def test_texts_do_not_run_into_each_other() -> None:
    assert digest_text("ab", "c") != digest_text("a", "bc")


def test_an_archive_counts_only_with_its_sizes(tmp_path: Path) -> None:
    (tmp_path / "operator-0123456789ab.tar").write_bytes(b"")
    assert known_image(OPERATOR, "0123456789ab", tmp_path) is None
    (tmp_path / "operator-0123456789ab.json").write_text(
        json.dumps({"unpacked_bytes": 2_000_000, "compressed_bytes": 1_000_000})
    )
    image = known_image(OPERATOR, "0123456789ab", tmp_path)
    assert image is not None
    assert image.tag == "dglop.local/operator:0123456789ab"
    assert str(image) == "operator 2 MB (1 MB compressed)"


def test_an_image_over_its_limits_is_refused_with_both_figures(tmp_path: Path) -> None:
    image = BuiltImage("operator", "t", tmp_path, 451_000_000, 90_000_000)
    with pytest.raises(ImageError, match=r"operator 451 MB \(90 MB compressed\), where 450 MB and 150 MB"):
        check_limits(image, OPERATOR.limits)
    check_limits(image, None)


def test_every_recipe_names_files_that_are_there() -> None:
    for recipe in RECIPES:
        assert (recipe.folder / "Containerfile").is_file()
        assert (recipe.folder / "packages.txt").is_file()
        for source in recipe.sources:
            assert (ROOT / source).exists(), source
        assert len(image_key(recipe)) == 12


def test_an_unknown_image_is_named_with_the_known_ones() -> None:
    with pytest.raises(ImageError, match="no image trainer: choose of dgl, operator, openmpi"):
        wanted(["trainer"])
    assert wanted([]) == list(RECIPES)
    assert wanted(["operator"]) == [OPERATOR]


def test_pip_is_pinned_in_one_place() -> None:
    assert pip_version("# text\npip==25.3 \\\n    --hash=sha256:00") == "25.3"
    with pytest.raises(ImageError, match="must pin pip"):
        pip_version("pip\n")


def test_wheels_are_taken_down_from_the_images_glibc() -> None:
    names = platforms("x86_64")
    assert names[0] == "manylinux_2_36_x86_64"
    assert {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64"} <= set(names)
    with pytest.raises(ImageError, match="riscv64"):
        platforms("riscv64")


@pytest.mark.parametrize(
    ("size", "text"), [(352_000_000, "352 MB"), (999_400_000, "999 MB"), (999_600_000, "1.0 GB")]
)
def test_sizes_read_as_people_say_them(size: int, text: str) -> None:
    assert megabytes(size) == text


def test_what_is_built_and_about_how_long_is_said_before() -> None:
    recipes = wanted(["dgl", "operator"])
    assert (
        announcement(recipes) == "  to build: images dgl, operator; about 6 min on two cores the first time"
    )


def test_the_operators_image_has_every_extra_of_the_project_but_what_is_for_tests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert sorted(project["optional-dependencies"]) == sorted([*EXTRAS, "testing"])

# SPDX-License-Identifier: Apache-2.0
"""Components are named in an overlay as its comments say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from hack.overlay import overlay_with

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("overlay", "components"),
    [
        ("default", ["pytorchjob", "mpijob"]),
        ("default", ["mpijob"]),
        ("namespaced", ["pytorchjob-namespaced", "mpijob-namespaced"]),
    ],
)
def test_an_overlay_has_the_components_that_are_named(
    tmp_path: Path, overlay: str, components: list[str]
) -> None:
    made = overlay_with(tmp_path, *components, overlay=overlay)
    page = yaml.safe_load((made / "kustomization.yaml").read_text())
    assert page["components"] == [f"../components/{each}" for each in components]
    assert all((made / each).is_dir() for each in page["components"])


def test_a_component_that_the_comments_do_not_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="says nothing of components/tfjob"):
        overlay_with(tmp_path, "tfjob")

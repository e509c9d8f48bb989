# SPDX-License-Identifier: Apache-2.0
"""An overlay of config/ with components named in it, as its comments tell people to do."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ("overlay_with",)

_CONFIG = Path(__file__).resolve().parent.parent / "config"


def overlay_with(folder: Path, *components: str, overlay: str = "default") -> Path:
    """
    A copy of config/ in *folder* whose overlay has these of config/components; the overlay's path.

    Raises ValueError for one that the comments in the overlay do not name.
    """
    copied = folder / "config"
    shutil.copytree(_CONFIG, copied)
    page = copied / overlay / "kustomization.yaml"
    text = page.read_text().replace("# components:\n", "components:\n", 1)
    for component in components:
        line = f"#  - ../components/{component}\n"
        if line not in text:
            raise ValueError(f"config/{overlay}/kustomization.yaml says nothing of components/{component}")
        text = text.replace(line, line.removeprefix("#"))
    page.write_text(text)
    return page.parent

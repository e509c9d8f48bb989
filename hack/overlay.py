# SPDX-License-Identifier: Apache-2.0
"""config/default with components named in it, as its comments tell people to do."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ("overlay_with",)

_CONFIG = Path(__file__).resolve().parent.parent / "config"


def overlay_with(folder: Path, *components: str) -> Path:
    """
    A copy of config/ in *folder* whose default overlay has these of config/components; its path.

    Raises ValueError for one that the comments in config/default do not name.
    """
    copied = folder / "config"
    shutil.copytree(_CONFIG, copied)
    overlay = copied / "default"
    text = (overlay / "kustomization.yaml").read_text().replace("# components:\n", "components:\n", 1)
    for component in components:
        line = f"#  - ../components/{component}\n"
        if line not in text:
            raise ValueError(f"config/default/kustomization.yaml says nothing of components/{component}")
        text = text.replace(line, line.removeprefix("#"))
    (overlay / "kustomization.yaml").write_text(text)
    return overlay

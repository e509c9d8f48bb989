# SPDX-License-Identifier: Apache-2.0
"""The shipped overlays with components named in them, as a person would name them."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ("COMPONENTS", "with_components")

CONFIG = Path(__file__).resolve().parents[1] / "config"
COMPONENTS = ("pytorchjob", "mpijob")


def with_components(folder: Path, overlay: str, *components: str) -> Path:
    """A copy of config/ in *folder*, and in it the overlay that has these components besides."""
    copied = folder / "config"
    shutil.copytree(CONFIG, copied, dirs_exist_ok=True)
    page = copied / overlay / "kustomization.yaml"
    named = "".join(f"  - ../components/{each}\n" for each in components)
    page.write_text(f"{(CONFIG / overlay / 'kustomization.yaml').read_text()}components:\n{named}")
    return copied / overlay

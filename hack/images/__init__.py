# SPDX-License-Identifier: Apache-2.0
"""The project's container images, built from one Containerfile each, by Docker or without it."""

from __future__ import annotations

from hack.images.build import announcement, build_images, lacking
from hack.images.model import BuiltImage, ImageError

__all__ = ("BuiltImage", "ImageError", "announcement", "build_images", "lacking")

# SPDX-License-Identifier: Apache-2.0
"""How large the images are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hack import images
from hack.bench.figures import megabytes
from hack.bench.section import Section

if TYPE_CHECKING:
    from hack.cluster.report import Report

__all__ = ("measure_images",)

_TARGETS = {"operator": "under 450 MB, under 150 MB"}


def measure_images(report: Report) -> Section:
    """Build the images where they are not built, and tell their sizes."""
    rows = [
        (
            each.name,
            megabytes(each.unpacked_bytes),
            megabytes(each.compressed_bytes),
            _TARGETS.get(each.name, ""),
        )
        for each in images.build_images(report)
    ]
    return Section("Images", ("image", "unpacked", "compressed", "target"), rows)

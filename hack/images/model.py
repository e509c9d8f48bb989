# SPDX-License-Identifier: Apache-2.0
"""What an image is made of, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hack.cluster.errors import ClusterError

__all__ = ("RECIPES", "REPOSITORY", "ROOT", "BuiltImage", "ImageError", "Recipe", "megabytes")

ROOT = Path(__file__).resolve().parent.parent.parent
REPOSITORY = "dglop.local"


class ImageError(ClusterError):
    """An image cannot be built; the message is meant for a person."""


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image in an archive that container engines load; sizes are those of its layers, in bytes."""

    name: str
    tag: str
    archive: Path
    unpacked_bytes: int
    compressed_bytes: int

    @property
    def short(self) -> str:
        """Name and both sizes in a few letters, for a line of progress."""
        return f"{self.name} {megabytes(self.unpacked_bytes)} ({megabytes(self.compressed_bytes)})"

    def __str__(self) -> str:
        return f"{self.name} {megabytes(self.unpacked_bytes)} ({megabytes(self.compressed_bytes)} compressed)"


@dataclass(frozen=True, slots=True)
class Recipe:
    """One image: its folder under images/ has Containerfile, packages.txt and perhaps more."""

    name: str
    sources: tuple[str, ...]
    """What else it is made of: files and folders outside its own, from the repository's root."""
    limits: tuple[int, int] | None = None
    """Bytes it may have unpacked and compressed."""
    minutes: int = 2
    """That a first build takes on two cores, for what is said before it."""
    wheels: bool = True
    """Whether Python packages from an index go in."""
    script: bool = False
    """Whether its folder has a debian.sh whose `slim` runs in the Debian root."""

    @property
    def folder(self) -> Path:
        return ROOT / "images" / self.name

    @property
    def repository(self) -> str:
        return f"{REPOSITORY}/{self.name}"


RECIPES = (
    Recipe(name="dgl", sources=("images/pip.txt", "examples/graphsage"), minutes=4, script=True),
    Recipe(
        name="operator",
        sources=("images/pip.txt", "uv.lock", "pyproject.toml", "src/dglop", "hack/zipapp.py"),
        limits=(450_000_000, 150_000_000),
    ),
    Recipe(name="openmpi", sources=("examples/mpi",), wheels=False),
)


def megabytes(size: int) -> str:
    """A size as people say it: `390 MB`, `1.1 GB`."""
    return f"{size / 1e9:.1f} GB" if size >= 999_500_000 else f"{size / 1e6:.0f} MB"

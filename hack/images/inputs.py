# SPDX-License-Identifier: Apache-2.0
"""Digests over what goes in, so that nothing is built twice."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ("FORMAT", "LEFT_OUT", "digest_files", "digest_text", "files_under")

FORMAT = "1"  # raise it when the way of building changes what comes out
LEFT_OUT = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".DS_Store"})


def digest_text(*parts: str) -> str:
    """Twelve hexadecimal digits for a list of texts."""
    digest = hashlib.sha256(FORMAT.encode())
    for part in parts:
        digest.update(f"\0{len(part.encode())}\0".encode() + part.encode())
    return digest.hexdigest()[:12]


def files_under(path: Path) -> Iterator[Path]:
    """The file itself, or all below a folder in a fixed order, without caches; nothing where nothing is."""
    if path.is_file():
        yield path
    elif path.is_dir():
        for each in sorted(path.rglob("*")):
            below = each.relative_to(path).parts
            if each.is_file() and not LEFT_OUT.intersection(below) and each.suffix != ".pyc":
                yield each


def digest_files(root: Path, paths: Iterable[Path]) -> str:
    """Twelve digits for names below `root`, whether they may be run, and contents; times do not count."""
    digest = hashlib.sha256(FORMAT.encode())
    for path in sorted({each for given in paths for each in files_under(given)}):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        runs = bool(path.stat().st_mode & 0o100)
        digest.update(f"{path.relative_to(root).as_posix()}\0{runs}\0{content}\n".encode())
    return digest.hexdigest()[:12]

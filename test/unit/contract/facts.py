# SPDX-License-Identifier: Apache-2.0
"""Facts about the official client, which fail in words: what changed, and what of ours stands on it."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("official", "relied_on", "stood_in")

SOURCES = Path(__file__).resolve().parents[3] / "src" / "dglop"


def official(module: str = "kubernetes.aio.client") -> Any:
    """A module of the official client; imported inside a fact, so that its absence is told as one."""
    return import_module(module)


@contextmanager
def relied_on(fact: str, *, by: str) -> Iterator[None]:
    """What the block tries is so, or the test fails; `by` is `file: name` of ours that depends on it."""
    with _told(f"no longer so: {fact}", f"used by {_places(by)}"):
        yield


@contextmanager
def stood_in(trap: str, *, by: str) -> Iterator[None]:
    """What the block tries is still so, or the part of ours that stands in for it may be done without."""
    with _told(
        f"changed, and perhaps mended: {trap}",
        f"stood in for by {_places(by)}; where that can go, so can this test",
    ):
        yield


@contextmanager
def _told(what: str, who: str) -> Iterator[None]:
    try:
        yield
    except (Exception, pytest.fail.Exception) as problem:  # noqa: BLE001 - all that may be is told alike
        why = " ".join(str(problem).split())[:400]
        text = f"kubernetes {version('kubernetes')}: {what}; {who} ({type(problem).__name__}: {why})"
        raise pytest.fail.Exception(text, pytrace=False) from None


def _places(by: str) -> str:
    """`by` as it is, if what it names is there."""
    for place in by.split(", "):
        file, _, name = place.partition(": ")
        path = SOURCES / file
        if not path.is_file() or name not in path.read_text(encoding="utf-8"):
            raise LookupError(f"{place}: src/dglop has no such file with this name in it")
    return by

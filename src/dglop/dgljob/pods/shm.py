# SPDX-License-Identifier: Apache-2.0
"""Shared memory: DGL's servers and trainers share graph and features there, 64 MiB are never enough."""

from __future__ import annotations

from typing import Any

from dglop.dgljob.pods.names import SHM_DIR, Volume
from dglop.dgljob.quantities import half
from dglop.errors import SchemaError
from dglop.runtime.api import RawContainer, RawPod, parse_quantity

__all__ = ("add_shm", "shm_size")

DEFAULT_SIZE = "1Gi"


def shm_size(wanted: str | None, memory_limit: Any) -> str | None:
    """The size /dev/shm gets: as wanted, else half of the memory limit, else 1Gi; None for "0".

    Raises ValueError where either is no quantity.
    """
    if wanted is not None:
        return wanted if parse_quantity(wanted) > 0 else None
    if memory_limit in (None, ""):
        return DEFAULT_SIZE
    return half(str(memory_limit))


def add_shm(pod: RawPod, main: RawContainer, wanted: str | None) -> None:
    """Mounts a memory-backed /dev/shm into `main`; a mount of the user's own there is respected.

    Raises SchemaError where its size cannot be told.
    """
    if main.has_mount(SHM_DIR):
        return
    limits = (main.data.get("resources") or {}).get("limits") or {}
    try:
        size = shm_size(wanted, limits.get("memory"))
    except ValueError as problem:
        raise SchemaError(f"the size of {SHM_DIR}: {problem}") from problem
    if size is None:
        return
    pod.volume(Volume.SHM, {"emptyDir": {"medium": "Memory", "sizeLimit": size}})
    main.mount(Volume.SHM, SHM_DIR)

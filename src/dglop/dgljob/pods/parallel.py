# SPDX-License-Identifier: Apache-2.0
"""What the container that makes parts is told of the manner: mode, processes, and what to keep."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dglop.dgljob.enums import PartitionMode
from dglop.dglrun import contract
from dglop.errors import SchemaError
from dglop.runtime.api import parse_quantity

if TYPE_CHECKING:
    from dglop.dgljob.pods.context import PodContext
    from dglop.runtime.api import RawContainer

__all__ = ("making_env",)


def making_env(ctx: PodContext, main: RawContainer) -> dict[str, str]:
    """Settings of `dglrun partition` and `assemble`, in `main` or beside it.

    Raises SchemaError where a CPU limit is no quantity.
    """
    env = {contract.ENV_PARTITION_MODE: str(ctx.shape.mode)}
    if ctx.shape.mode is PartitionMode.SMP:
        processes = ctx.spec.partition.processes or _allowed(main, ctx.shape.parts)
        if processes:
            env[contract.ENV_PARTITION_PROCESSES] = str(processes)
    if ctx.spec.partition_mode is PartitionMode.PARMETIS:
        env[contract.ENV_PART_METHOD] = "parmetis"
    if not ctx.shape.retains:
        env[contract.ENV_RETAIN_PARTS] = "0"
    return env


def _allowed(main: RawContainer, parts: int) -> int | None:
    """As many processes as the container has CPUs to use up, at most one a part; None without a limit."""
    limit = ((main.data.get("resources") or {}).get("limits") or {}).get("cpu")
    if limit is None:
        return None
    try:
        return max(1, min(parts, math.ceil(parse_quantity(limit))))
    except ValueError as problem:
        raise SchemaError(f"resources.limits.cpu: {problem}") from problem

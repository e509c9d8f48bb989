# SPDX-License-Identifier: Apache-2.0
"""Which way the parts of the nodes are chosen: by the job's word, or by what the image has."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from .. import contract
from ..ending import config_refusal

if TYPE_CHECKING:
    from ..env import Env
    from ..inputs.source import Array
    from .plan import Plan

__all__ = ("METHODS", "Method", "choose_parts", "method_of")

METHODS = ("metis", "random", "given", "ptscotch", "parallel", "parmetis")
MPIRUN, DGPART, PM_DGLPART = "mpirun", "dgpart", "pm_dglpart"


@dataclass(frozen=True)
class Method:
    """One of METHODS but for parmetis, which is a program or means our own; `path` is that of given.

    `balance_edges`: every part is to have as many edges, as far as the method knows how: metis does.
    """

    name: str
    path: Optional[str] = None
    balance_edges: bool = True


def method_of(env: Env, *, spread: bool) -> Method:
    """`spread`: over several pods, of which none may hold all edges. Raises Refusal (ConfigInvalid)."""
    wanted = env.maybe(contract.ENV_PART_METHOD)
    if wanted is None:
        # PT-Scotch starts where mpirun does: in one pod
        return Method("ptscotch" if not spread and _has(MPIRUN, DGPART) else "parallel")
    if wanted not in METHODS:
        raise config_refusal(
            "%s=%s: several processes know %s" % (contract.ENV_PART_METHOD, wanted, ", ".join(METHODS))
        )
    if spread and wanted in ("metis", "ptscotch", "parmetis"):
        raise config_refusal(
            "partitioning by %s needs all edges in one pod: with partitionMode MSP use parallel, random or "
            "given, or use partitionMode SMP" % wanted
        )
    if wanted == "ptscotch" and not _has(MPIRUN, DGPART):
        raise config_refusal(
            "partitioning by ptscotch needs mpirun and dgpart, the image lacks them (Debian: openmpi-bin and "
            "ptscotch): use another image, or partition by parallel or metis"
        )
    if wanted == "parmetis":
        return Method(PM_DGLPART if _has(MPIRUN, PM_DGLPART) else "parallel")
    if wanted == "given":
        return Method(wanted, env.text(contract.ENV_PART_IDS))
    return Method(wanted, balance_edges=env.integer(contract.ENV_BALANCE_EDGES, 1) != 0)


def choose_parts(plan: Plan, method: Method, groups: Array) -> Array:
    """The part of each node of the own share. `groups` are to be spread evenly. Raises Refusal, PeerLost."""
    if method.name == "random":
        from .ids.spread import spread  # noqa: PLC0415

        return spread(plan)
    if method.name == "given":
        from .ids.given import given  # noqa: PLC0415

        return given(plan, str(method.path))
    if method.name == "metis":
        from .ids.metis import metis  # noqa: PLC0415

        return metis(plan, groups, balance_edges=method.balance_edges)
    if method.name == "parallel":
        from .ids.parallel import parallel  # noqa: PLC0415

        return parallel(plan, groups)
    from .ids.programs import by_program  # noqa: PLC0415

    return by_program(plan, method.name, groups)


def _has(*programs: str) -> bool:
    return all(shutil.which(program) for program in programs)

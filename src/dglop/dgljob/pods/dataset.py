# SPDX-License-Identifier: Apache-2.0
"""What whoever makes the parts is told of the graph, and of how it is to be divided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dglrun import contract

if TYPE_CHECKING:
    from dglop.dgljob.spec import DGLJobSpec

__all__ = ("dataset_env", "partition_env")


def dataset_env(spec: DGLJobSpec) -> dict[str, str]:
    """Which graph it is, as far as the job says so."""
    if spec.dataset is None:
        return {}
    said = {
        contract.ENV_DATASET_NAME: spec.dataset.name,
        contract.ENV_DATASET_URL: spec.dataset.url,
        contract.ENV_DATASET_FORMAT: spec.dataset.format,
        contract.ENV_DATASET_NODES: spec.dataset.nodes,
    }
    return {name: str(value) for name, value in said.items() if value}


def partition_env(spec: DGLJobSpec) -> dict[str, str]:
    """How to divide it, where that is not as dglrun does by itself."""
    env: dict[str, str] = {}
    if spec.partition.method:
        env[contract.ENV_PART_METHOD] = spec.partition.method
    if spec.partition.part_ids:
        env[contract.ENV_PART_IDS] = spec.partition.part_ids
    if spec.partition.balance_ntypes:
        env[contract.ENV_BALANCE_NTYPES] = spec.partition.balance_ntypes
    if not spec.partition.balance_edges:
        env[contract.ENV_BALANCE_EDGES] = "0"
    return env

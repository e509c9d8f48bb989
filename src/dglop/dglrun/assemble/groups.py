# SPDX-License-Identifier: Apache-2.0
"""Which nodes are alike, so that every part is to have as many of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional

from .. import contract
from ..assign import TRAIN_MASK
from ..ending import config_refusal

if TYPE_CHECKING:
    from ..inputs.source import Array
    from .plan import Plan

__all__ = ("balance_groups",)

_MOST_VALUES = 64


def balance_groups(plan: Plan, name: Optional[str] = None) -> Array:
    """A number for each own node; those with the same are to be spread evenly over the parts.

    By type, and in a type that has the feature `name` by its value; None: by train_mask where there is one,
    so that every trainer has as many to train on; the word none: not even by type. All processes must call
    it. Raises Refusal (ConfigInvalid) for a feature that no node has, or that is no mask or small number.
    """
    import numpy as np  # noqa: PLC0415

    low, high = plan.nodes.of(plan.mesh.rank)
    if name == "none":
        return np.zeros(high - low, np.int64)
    features = plan.source.schema.features
    having = [ntype for ntype in plan.ntypes if (ntype, name or TRAIN_MASK) in features]
    if name is not None and not having:
        known = sorted({key for of, key in features if isinstance(of, str)})
        raise config_refusal(
            "%s=%s: no node has that feature; there are %s"
            % (contract.ENV_BALANCE_NTYPES, name, ", ".join(known) or "none")
        )
    found: List[Array] = []
    first = 0
    for index, lo, hi in plan.nodes.pieces(plan.mesh.rank):
        own, count = np.zeros(hi - lo, np.int64), 1
        if plan.ntypes[index] in having:
            own, count = _numbered(plan, plan.ntypes[index], name or TRAIN_MASK, lo, hi)
        found.append(own + first)
        first += count
    return np.concatenate(found)


def _numbered(plan: Plan, ntype: str, name: str, lo: int, hi: int) -> "tuple[Array, int]":
    """The place of each own node's value among all there are; how many there are."""
    import numpy as np  # noqa: PLC0415

    form, shape = plan.source.schema.features[(ntype, name)]
    if shape or np.dtype(form).kind not in "biu":
        raise _refused(name, "it has shape %s and type %s" % (shape, form))
    values = np.asarray(plan.source.node_data(ntype, name, lo, hi)).astype(np.int64)
    # none of an empty share
    some = np.unique(values)
    told: List[Any] = plan.mesh.share(some[: _MOST_VALUES + 1].tolist())
    distinct = sorted({value for each in told for value in each})
    if len(distinct) > _MOST_VALUES:
        raise _refused(name, "it has more than %d values" % _MOST_VALUES)
    return np.searchsorted(np.array(distinct, np.int64), values), max(1, len(distinct))


def _refused(name: str, why: str) -> Exception:
    return config_refusal(
        "%s=%s: nodes are balanced by a mask, or by a whole number of at most %d values; %s"
        % (contract.ENV_BALANCE_NTYPES, name, _MOST_VALUES, why)
    )

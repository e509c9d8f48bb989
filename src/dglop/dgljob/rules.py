# SPDX-License-Identifier: Apache-2.0
"""The rules of a DGLJob's spec that speak of several fields, as the API server checks them.

It checks them all at every write, also of the status alone, and works out `self.<field>` anew wherever a rule
says so, from a table of all fields beside it. So a rule that speaks of one field stands at that field, and
those of several are one rule that looks at each field once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dglop.dgljob.enums import Role
from dglop.runtime.api import CEL

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("FAILURE_RULES", "REPLICA_RULES", "SPEC_RULES")


class _Check(NamedTuple):
    """What must hold, and what is said where it does not."""

    holds: str
    message: str


def _together(names: dict[str, str], checks: Sequence[_Check], *, unless: str = "") -> CEL:
    """One rule of many checks, which share what is named: it says the first that does not hold.

    It could not say all: the server's estimate of what joining texts may cost is beyond its limit.
    """
    rule = " && ".join(f"({each.holds})" for each in checks)
    said = "".join(f"!({each.holds}) ? '{each.message}' : " for each in checks[:-1])
    said = f"{said}'{checks[-1].message}'"
    for name, value in reversed(names.items()):
        rule = f"[{value}].all({name}, {rule})"
        said = f"[{value}].map({name}, {said})[0]"
    if unless:
        rule = f"{rule} || {unless}"  # last, as few writes come so far
    return CEL(rule, "; ".join(each.message for each in checks), expression=said)


_ROLES = ", ".join(f"'{role}'" for role in Role)
REPLICA_RULES = (
    CEL(f"self.all(k, k in [{_ROLES}])", f"dglReplicaSpecs may have only {', '.join(Role)}"),
    CEL(
        "!('Launcher' in self) || self['Launcher'].replicas == 1",
        "dglReplicaSpecs.Launcher has one replica",
    ),
)
FAILURE_RULES = (
    CEL(
        f"self.all(r, !has(r.targetReplicas) || r.targetReplicas.all(t, t in [{_ROLES}]))",
        f"targetReplicas of failureRules may name only {', '.join(Role)}",
    ),
)

_SHAPE = _together(
    {
        "mode": "self.partitionMode",
        "roles": "self.dglReplicaSpecs",
        "workers": "'Worker' in roles ? roles['Worker'].replicas : 0",
        "existing": "self.storage.existing",
        "placement": "self.partition.placement",
    },
    (
        _Check(
            "mode == 'Skip' || workers > 0",
            "dglReplicaSpecs.Worker with at least one replica is needed unless partitionMode is Skip",
        ),
        _Check(
            "mode != 'Skip' || workers > 0 || 'Launcher' in roles",
            "partitionMode Skip needs a Launcher, or Workers on existing parts",
        ),
        _Check(
            "mode != 'Skip' || workers == 0 || existing",
            "partitionMode Skip with Workers needs storage.existing: true and a claim with the parts",
        ),
        _Check(
            "!('Partitioner' in roles) || roles['Partitioner'].replicas == (mode in ['MSP', 'Skip'] ? 0 : 1)",
            "dglReplicaSpecs.Partitioner has one replica, and none where partitionMode is MSP or Skip",
        ),
        _Check(
            "!('Server' in roles || 'Sampler' in roles || 'Trainer' in roles) || "
            "self.trainingLayout == 'TriWorkload'",
            "Server, Sampler and Trainer need trainingLayout TriWorkload",
        ),
        _Check(
            "workers == 0 || !has(self.numPartitions) || self.numPartitions == workers",
            "numPartitions must match dglReplicaSpecs.Worker.replicas; leave it out or write the same",
        ),
        _Check(
            "placement == 'Pod' || (!(mode in ['MSP', 'Skip']) && self.storage.type != 'EmptyDir')",
            "partition.placement Launcher and Worker are for SSP and SMP, and need storage.type PVC",
        ),
        _Check(
            "placement == 'Pod' || "
            "(placement == 'Launcher' ? 'Launcher' in roles : !('Partitioner' in roles))",
            "partition.placement Launcher needs a Launcher, and Worker has no Partitioner",
        ),
        _Check("!existing || mode == 'Skip'", "storage.existing needs partitionMode Skip"),
        _Check("self.numServers <= self.network.portCount", "numServers is larger than network.portCount"),
    ),
)

_DATASET = CEL(
    "has(self.dataset) ? has(oldSelf.dataset) && self.dataset == oldSelf.dataset : !has(oldSelf.dataset)",
    "dataset cannot be changed after creation",
)

_SIZES = ("slotsPerWorker", "numServers", "numSamplers", "network")
_SUSPENDED = _together(
    {"now": "self.dglReplicaSpecs", "was": "oldSelf.dglReplicaSpecs"},
    (
        _Check(
            "size(now) == size(was) && now.all(k, k in was && now[k].replicas == was[k].replicas)",
            "replica types and their replicas can be changed only while the job is suspended",
        ),
        _Check(
            " && ".join(f"self.{each} == oldSelf.{each}" for each in _SIZES),
            f"{', '.join(_SIZES)} can be changed only while the job is suspended",
        ),
    ),
    unless="oldSelf.runPolicy.suspend || self.runPolicy.suspend",
)

SPEC_RULES = (_SHAPE, _DATASET, _SUSPENDED)

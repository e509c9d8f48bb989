# SPDX-License-Identifier: Apache-2.0
"""Who may join an attempt, and when all have met: decisions at the hub without any I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence

from . import contract
from .failure import DIED, Failure

if TYPE_CHECKING:
    from .gang import Gang

__all__ = ("Refused", "Who", "common_address", "different_parts", "missing", "refusal")


@dataclass(frozen=True)
class Who:
    """What a pod says of itself; `index` is its seat in the gang."""

    index: int
    pod: str
    ip: str
    job_uid: str
    attempt: int
    manifest: str

    def to_json(self) -> Dict[str, Any]:
        return {
            "index": self.index,
            "pod": self.pod,
            "ip": self.ip,
            "uid": self.job_uid,
            "attempt": self.attempt,
            "manifest": self.manifest,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Who:
        """Raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            index=int(data["index"]),
            pod=str(data["pod"]),
            ip=str(data["ip"]),
            job_uid=str(data["uid"]),
            attempt=int(data["attempt"]),
            manifest=str(data["manifest"]),
        )


@dataclass(frozen=True)
class Refused:
    """Not let in; `final`: this pod's time is over, else it may come again and find the right hub."""

    sentence: str
    final: bool = False


def refusal(host: Who, guest: Who, gang: Gang) -> Optional[Refused]:
    """Why `host`, which is the hub, does not let `guest` in; None: it does."""
    if guest.job_uid != host.job_uid:
        return Refused("this is %s of another job (%s)" % (gang.hub, host.job_uid))
    if guest.attempt < host.attempt:
        return Refused("attempt %d is over, attempt %d has begun" % (guest.attempt, host.attempt), final=True)
    if guest.attempt > host.attempt:
        return Refused("this is %s of attempt %d, which is still ending" % (gang.hub, host.attempt))
    if not 0 < guest.index < gang.size:
        return Refused("the job has %s: none of them is seat %d" % (gang, guest.index), final=True)
    return None


def different_parts(host: Who, guest: Who) -> Optional[Failure]:
    """The failure of an attempt whose pods hold parts of two partitionings."""
    if guest.manifest == host.manifest:
        return None
    sentence = "%s holds parts with manifest %s, %s with manifest %s: parts are never mixed" % (
        host.pod,
        host.manifest,
        guest.pod,
        guest.manifest,
    )
    return _failure(host, "PartsChanged", sentence)


def common_address(host: Who, guests: Sequence[Who]) -> Optional[Failure]:
    """The failure of an attempt in which two pods have one address, which DGL cannot tell apart."""
    seen: Dict[str, Who] = {}
    for who in (host, *guests):
        if who.ip in seen:
            sentence = "%s and %s both have the address %s: DGL needs one address a pod (hostNetwork?)" % (
                seen[who.ip].pod,
                who.pod,
                who.ip,
            )
            return _failure(host, "ConfigInvalid", sentence, contract.EXIT_CONFIG)
        seen[who.ip] = who
    return None


def missing(host: Who, present: Sequence[int], gang: Gang, waited: float) -> Failure:
    """The failure of an attempt whose pods did not all come."""
    absent: List[str] = [gang.name(seat) for seat in range(1, gang.size) if seat not in present]
    sentence = "after %g s still missing: %s" % (waited, ", ".join(absent))
    return _failure(host, "PeersMissing", sentence)


def _failure(host: Who, reason: str, sentence: str, code: int = contract.EXIT_RETRYABLE) -> Failure:
    return Failure(host.index, host.pod, DIED, "rendezvous", code, reason=reason, lines=(sentence,))

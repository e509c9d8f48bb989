# SPDX-License-Identifier: Apache-2.0
"""Who may join an attempt, and when all have met: decisions of worker-0 without any I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import contract
from .failure import DIED, Failure

__all__ = ("Refused", "Who", "common_address", "different_parts", "missing", "refusal")


@dataclass(frozen=True)
class Who:
    """What a Worker says of itself."""

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
    """Not let in; `final`: this pod's time is over, else it may come again and find the right worker-0."""

    sentence: str
    final: bool = False


def refusal(host: Who, guest: Who, workers: int) -> Optional[Refused]:
    """Why `host`, which is worker-0, does not let `guest` in; None: it does."""
    if guest.job_uid != host.job_uid:
        return Refused("this is worker-0 of another job (%s)" % host.job_uid)
    if guest.attempt < host.attempt:
        return Refused("attempt %d is over, attempt %d has begun" % (guest.attempt, host.attempt), final=True)
    if guest.attempt > host.attempt:
        return Refused("this is worker-0 of attempt %d, which is still ending" % host.attempt)
    if not 0 < guest.index < workers:
        return Refused("there are %d Workers, none has index %d" % (workers, guest.index), final=True)
    return None


def different_parts(host: Who, guest: Who) -> Optional[Failure]:
    """The failure of an attempt whose Workers hold parts of two partitionings."""
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
    """The failure of an attempt in which two Workers have one address, which DGL cannot tell apart."""
    seen: Dict[str, Who] = {}
    for who in (host, *guests):
        if who.ip in seen:
            sentence = "%s and %s both have the address %s: DGL needs one address a Worker (hostNetwork?)" % (
                seen[who.ip].pod,
                who.pod,
                who.ip,
            )
            return _failure(host, "ConfigInvalid", sentence, contract.EXIT_CONFIG)
        seen[who.ip] = who
    return None


def missing(host: Who, present: Sequence[int], workers: int, waited: float) -> Failure:
    """The failure of an attempt whose Workers did not all come."""
    absent: List[str] = ["worker-%d" % index for index in range(1, workers) if index not in present]
    sentence = "after %g s still missing: %s" % (waited, ", ".join(absent))
    return _failure(host, "PeersMissing", sentence)


def _failure(host: Who, reason: str, sentence: str, code: int = contract.EXIT_RETRYABLE) -> Failure:
    return Failure(host.index, host.pod, DIED, "rendezvous", code, reason=reason, lines=(sentence,))

# SPDX-License-Identifier: Apache-2.0
"""A failure in an attempt, as the supervisors tell it each other and as a pod's last words tell it."""

from __future__ import annotations

import signal as signals
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Tuple

from . import contract
from .ending import Ending

__all__ = ("DIED", "LOST", "STOPPED", "Failure", "ending_of", "stop_ending")

DIED, LOST, STOPPED = "died", "lost", "stopped"
_PEER_REASONS = {DIED: "PeerFailed", LOST: "PeerLost", STOPPED: "PeerStopped"}
_TOLD_LINES = 8


@dataclass(frozen=True)
class Failure:
    """What failed first, or may have: a process of a pod (`DIED`), or the pod itself (`LOST`, `STOPPED`)."""

    index: int
    pod: str
    kind: str
    process: str = "pod"
    exit_code: Optional[int] = None
    signal: Optional[int] = None
    oom: bool = False
    reason: Optional[str] = None
    lines: Tuple[str, ...] = ()

    @property
    def is_decisive(self) -> bool:
        """Whether this cannot be the consequence of a failure elsewhere.

        A process without its peers exits with a code or aborts; nothing but the kernel or a person kills it.
        A pod that is gone or is told to stop, too, had no part in what its peers' processes say.
        """
        return self.kind != DIED or self.signal == signals.SIGKILL

    def to_json(self) -> Dict[str, Any]:
        return {
            "index": self.index,
            "pod": self.pod,
            "kind": self.kind,
            "process": self.process,
            "exitCode": self.exit_code,
            "signal": self.signal,
            "oom": self.oom,
            "reason": self.reason,
            "lines": list(self.lines),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Failure:
        """Raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            index=int(data["index"]),
            pod=str(data["pod"]),
            kind=str(data["kind"]),
            process=str(data["process"]),
            exit_code=None if data["exitCode"] is None else int(data["exitCode"]),
            signal=None if data["signal"] is None else int(data["signal"]),
            oom=bool(data["oom"]),
            reason=None if data["reason"] is None else str(data["reason"]),
            lines=tuple(str(line) for line in data["lines"]),
        )


def ending_of(failure: Failure, index: int) -> Ending:
    """How the pod of this seat ends, the attempt's first failure being `failure`."""
    if failure.index == index and failure.kind == DIED:
        code = 1 if failure.exit_code is None else failure.exit_code
        message = {
            "cause": "self",
            "process": failure.process,
            "exitCode": code,
            "lines": list(failure.lines),
        }
        extra = {"signal": failure.signal, "oom": failure.oom or None, "reason": failure.reason}
        return Ending(
            code, dict(message, **{key: value for key, value in extra.items() if value is not None})
        )
    message = {
        "cause": "peer",
        "pod": failure.pod,
        "process": failure.process,
        "reason": _PEER_REASONS.get(failure.kind, "PeerFailed"),
        "lines": list(failure.lines)[-_TOLD_LINES:],
    }
    if failure.exit_code is not None:
        message["exitCode"] = failure.exit_code
    return Ending(contract.EXIT_PEER, message)


def stop_ending(process: str, number: int) -> Ending:
    """How a command ends that was told to stop by a signal."""
    message = {"cause": "stop", "process": process, "exitCode": contract.EXIT_PEER, "signal": number}
    return Ending(contract.EXIT_PEER, message)

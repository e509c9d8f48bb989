# SPDX-License-Identifier: Apache-2.0
"""How far the training is: lines that the trainer appends to a file, and what of them is worth passing on."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import contract
from .ending import config_refusal

__all__ = ("ProgressFile", "parse_report", "progress", "report")

MOST_METRICS = 32
_LONGEST_NAME = 64
_LONGEST_VALUE = 64


def report(
    percentage: Optional[float] = None,
    *,
    remaining_seconds: Optional[float] = None,
    variables: Optional[Mapping[str, str]] = None,
    **metrics: Any,
) -> bool:
    """Say how far this trainer is: `report(40, loss=0.12)`. Call it in rank 0.

    Appends one line to the file that $DGLJOB_PROGRESS_FILE names; worker-0 posts the newest of them. False
    where nobody wants to know, as outside of a job. Raises OSError when the file cannot be written.
    """
    path = (os.environ if variables is None else variables).get(contract.PROGRESS_FILE_ENV)
    if not path:
        return False
    said: Dict[str, Any] = {}
    if percentage is not None:
        said["progressPercentage"] = percentage
    if remaining_seconds is not None:
        said["estimatedRemainingSeconds"] = remaining_seconds
    if metrics:
        said["metrics"] = [{"name": name, "value": _text(value)} for name, value in metrics.items()]
    line = (json.dumps(said) + "\n").encode("utf-8")
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line)  # one write: lines of two trainers do not mix
    finally:
        os.close(handle)
    return True


def progress(arguments: Sequence[str], variables: Mapping[str, str]) -> bool:
    """The command: `progress PERCENT [SECONDS_LEFT] [NAME=VALUE...]`. Raises Refusal (ConfigInvalid)."""
    numbers = [argument for argument in arguments if "=" not in argument]
    pairs = [argument.partition("=") for argument in arguments if "=" in argument]
    try:
        percentage, seconds = [*map(float, numbers), None, None][:2]
    except ValueError as error:
        raise config_refusal("progress PERCENT [SECONDS_LEFT] [NAME=VALUE...]: %s" % error) from error
    metrics = {name: value for name, _, value in pairs}
    for reserved in ("percentage", "remaining_seconds", "variables"):
        if reserved in metrics:
            raise config_refusal("a metric cannot be called %s" % reserved)
    return report(percentage, remaining_seconds=seconds, variables=variables, **metrics)


def parse_report(line: str) -> Optional[Dict[str, Any]]:
    """A trainer's line as it may be posted, None when nothing in it can; what is wrong in it is left out."""
    try:
        said = json.loads(line)
    except ValueError:
        return None
    if not isinstance(said, dict):
        return None
    found: Dict[str, Any] = {}
    percentage, seconds = (
        _number(said.get("progressPercentage")),
        _number(said.get("estimatedRemainingSeconds")),
    )
    if percentage is not None:
        found["progressPercentage"] = max(0, min(100, int(percentage)))
    if seconds is not None:
        found["estimatedRemainingSeconds"] = max(0, int(seconds))
    metrics = _metrics(said.get("metrics"))
    if metrics:
        found["metrics"] = metrics
    return found or None


class ProgressFile:
    """The trainer's file, read as it grows."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._at = 0
        self._rest = b""
        self.latest: Optional[Dict[str, Any]] = None

    def reread(self) -> Optional[Dict[str, Any]]:
        """The latest report of the whole file, for another thread than the one that reads it."""
        whole = ProgressFile(self._path)
        whole.read()
        return whole.latest

    def read(self) -> bool:
        """Take in the new whole lines; True when there is a newer report than before."""
        try:
            with open(self._path, "rb") as file:
                if os.fstat(file.fileno()).st_size < self._at:
                    self._at, self._rest = 0, b""  # cut short and begun anew
                file.seek(self._at)
                new = file.read()
        except OSError:
            return False
        return self._take(new)

    def _take(self, new: bytes) -> bool:
        """What follows what was read before; True when there is a newer report in it."""
        self._at += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        newer = False
        for line in lines:
            found = parse_report(line.decode("utf-8", "replace"))
            if found is not None:
                # a report without metrics does not unsay the last ones
                self.latest, newer = dict(self.latest or {}, **found), True
        return newer


def _metrics(items: Any) -> List[Dict[str, str]]:
    if isinstance(items, dict):
        items = [{"name": name, "value": value} for name, value in items.items()]
    if not isinstance(items, list):
        return []
    found: Dict[str, str] = {}
    for item in items:
        if isinstance(item, dict) and item.get("name") and item.get("value") is not None:
            found[str(item["name"])[:_LONGEST_NAME]] = _text(item["value"])[:_LONGEST_VALUE]
    return [{"name": name, "value": value} for name, value in list(found.items())[:MOST_METRICS]]


def _number(value: Any) -> Optional[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 1e15 else None  # also no NaN


def _text(value: Any) -> str:
    return "%.6g" % value if isinstance(value, float) else str(value)

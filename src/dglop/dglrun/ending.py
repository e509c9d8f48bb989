# SPDX-License-Identifier: Apache-2.0
"""How a command ends: an exit code and the last words for the pod's termination log."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping

from . import contract

__all__ = ("MESSAGE_LIMIT", "Ending", "Refusal", "config_refusal", "last_words", "write_last_words")

MESSAGE_LIMIT = 4095  # the kubelet cuts at 4096 bytes, in the middle of a JSON text if need be
_LINE_LIMIT = 400


@dataclass(frozen=True)
class Ending:
    """The exit code of the container and its termination message (shapes: contract's docstring)."""

    exit_code: int
    message: Mapping[str, Any] = field(default_factory=dict)


class Refusal(Exception):  # noqa: N818  (it is an answer, not a defect)
    """dglrun itself judges that it cannot go on: a reason of contract.REASONS, a code and a sentence."""

    def __init__(self, reason: str, exit_code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.exit_code = exit_code
        self.sentence = sentence

    def ending(self, process: str) -> Ending:
        return Ending(
            self.exit_code,
            {
                "cause": "self",
                "process": process,
                "exitCode": self.exit_code,
                "reason": self.reason,
                "lines": [self.sentence],
            },
        )


def config_refusal(sentence: str) -> Refusal:
    """Something in the job is wrong and stays wrong however often it is tried."""
    return Refusal("ConfigInvalid", contract.EXIT_CONFIG, sentence)


def last_words(message: Mapping[str, Any], limit: int = MESSAGE_LIMIT) -> str:
    """`message` as one line of JSON of at most `limit` bytes.

    Of too many lines the oldest go, of the metrics of a result the last.
    """
    kept: Dict[str, Any] = dict(message)
    lines: List[str] = [_cut(str(line), _LINE_LIMIT) for line in kept.get("lines", ())]
    if "lines" in kept:
        kept["lines"] = lines
    text = _dump(kept)
    while len(text.encode("utf-8")) > limit and len(lines) > 1:
        del lines[0]
        text = _dump(kept)
    if isinstance(kept.get("result"), dict):
        kept["result"] = result = dict(kept["result"], metrics=list(kept["result"].get("metrics", ())))
        while len(text.encode("utf-8")) > limit and result["metrics"]:
            del result["metrics"][-1]
            text = _dump(kept)
    if len(text.encode("utf-8")) > limit:
        kept = {key: kept[key] for key in ("cause", "process", "exitCode", "pod", "reason") if key in kept}
        text = _dump(kept)
    return text


def write_last_words(path: str, message: Mapping[str, Any]) -> None:
    """Write the termination message; a pod without the file loses the words, never its exit code."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(last_words(message) + "\n")
    except OSError as error:
        print("dglrun: cannot write %s: %s" % (path, error), file=sys.stderr, flush=True)


def _dump(message: Mapping[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"

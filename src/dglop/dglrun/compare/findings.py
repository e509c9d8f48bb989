# SPDX-License-Identifier: Apache-2.0
"""What is wrong with parts, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from ..inputs.source import Array

__all__ = ("Findings",)

_MOST = 20


class Findings:
    """Sentences, of which the first ones are kept and all are counted."""

    def __init__(self) -> None:
        self.sentences: List[str] = []
        self.count: int = 0

    def add(self, sentence: str) -> None:
        self.count += 1
        if len(self.sentences) < _MOST:
            self.sentences.append(sentence)

    def check(self, holds: Any, sentence: str) -> bool:
        """Add the sentence unless it holds; whether it does."""
        if not holds:
            self.add(sentence)
        return bool(holds)

    def check_all(self, hold: Array, sentence: str, *names: Array) -> bool:
        """Add the sentence with how often it does not hold, and with the names where it first does not."""
        wrong = (~hold).nonzero()[0]
        if not len(wrong):
            return True
        first = tuple(each[wrong[0]] for each in names)
        self.add("%s (%d of %d)" % (sentence % first, len(wrong), len(hold)))
        return False

# SPDX-License-Identifier: Apache-2.0
"""How long a Launcher tries what the API server, the network or a Worker does not let it do."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Callable, TypeVar

from .. import contract
from ..ending import Refusal
from ..kube.apiserver import Denied
from ..kube.websocket import Broken

__all__ = ("Patience",)

T = TypeVar("T")
_LONGEST_PAUSE = 10.0


@dataclass(frozen=True)
class Patience:
    """Tries until a moment of time.monotonic, with pauses that grow."""

    deadline: float
    say: Callable[[str], None]
    pause: Callable[[float], None] = time.sleep  # between tries, not instead of waiting for something

    def wait(self, tries: int, why: str) -> None:
        """Pause before the next try. Raises Refusal (PeersMissing) when patience is at its end."""
        pause = min(_LONGEST_PAUSE, 0.5 * 2 ** min(tries, 5)) * random.uniform(0.5, 1.0)
        if time.monotonic() + pause > self.deadline:
            raise Refusal("PeersMissing", contract.EXIT_RETRYABLE, why)
        self.say("%s; next try in %.1f s" % (why, pause))
        self.pause(pause)

    def keep(self, work: Callable[[], T], what: str) -> T:
        """Do it until it is done. Raises Refusal: at once where the account may not do it."""
        tries = 0
        while True:
            try:
                return work()
            except Denied as error:
                if error.status in (401, 403):
                    sentence = "%s: %s" % (what, error)
                    raise Refusal("ConfigInvalid", contract.EXIT_CONFIG, sentence) from error
                self.wait(tries, "%s: %s" % (what, error))
            except Broken as error:
                self.wait(tries, "%s: %s" % (what, error))
            tries += 1

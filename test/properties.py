# SPDX-License-Identifier: Apache-2.0
"""How property tests are run that a guarantee stands on: a thousand courses, in each run the same ones."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

__all__ = ("SECONDS", "thousand")

SECONDS = 900
"""After which such a test hangs, also on a machine that has other things to do."""


def thousand(*, steps: int = 20) -> settings:
    """A thousand examples, for a state machine of at most *steps* steps each, and no time limit."""
    return settings(
        max_examples=1000,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )

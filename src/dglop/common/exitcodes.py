# SPDX-License-Identifier: Apache-2.0
"""Which failures are tried again: the exit code rules of the Kubeflow job kinds."""

from __future__ import annotations

from typing import Final

from dglop.common.types import RestartPolicy

__all__ = ("is_retryable", "signal_of")

FIRST_RETRYABLE: Final = 128


def is_retryable(policy: RestartPolicy, exit_code: int | None) -> bool:
    """Whether a failure of a program may be tried again.

    Under ExitCode 1 to 127 is the program's own verdict and final; from 128 on it was ended from outside.
    No exit code means that nothing ran: that is infrastructure, so it is tried again.
    """
    if policy is RestartPolicy.NEVER:
        return False
    if policy is RestartPolicy.EXIT_CODE:
        return exit_code is None or exit_code >= FIRST_RETRYABLE
    return True


def signal_of(exit_code: int | None) -> int | None:
    """The signal n that an exit code 128 + n stands for; None where it stands for none."""
    if exit_code is None or not FIRST_RETRYABLE < exit_code <= FIRST_RETRYABLE + 64:
        return None
    return exit_code - FIRST_RETRYABLE

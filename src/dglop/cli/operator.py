# SPDX-License-Identifier: Apache-2.0
"""`dglop operator`: runs the DGL operator until it is told to stop."""

from __future__ import annotations

import sys

from dglop.dgljob.operator import make_operator
from dglop.dgljob.settings import OperatorSettings
from dglop.errors import ConfigError
from dglop.runtime.program import run_program

__all__ = ("run",)


def run(words: list[str]) -> int:
    """Runs the operator with these flags; 0 after an orderly end, 1 after a failure, 2 for wrong flags."""
    try:
        settings = OperatorSettings.from_environment().with_flags(words, program="dglop operator")
    except ConfigError as problem:
        sys.stderr.write(f"dglop operator: {problem}\n")
        return 2
    return run_program(make_operator(settings), [])

# SPDX-License-Identifier: Apache-2.0
"""`dglop operator`: runs the operator of the enabled kinds until it is told to stop."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dglop.cli.settings import ProgramSettings
from dglop.dgljob.operator import add_dgljobs, make_manager
from dglop.errors import ConfigError
from dglop.runtime.program import run_program

if TYPE_CHECKING:
    from dglop.runtime.manager import Manager

__all__ = ("add_kinds", "assemble", "run")


def run(words: list[str]) -> int:
    """Runs the operator with these flags; 0 after an orderly end, 1 after a failure, 2 for wrong flags."""
    try:
        settings = ProgramSettings.unread().with_flags(words, program="dglop operator")
        manager = assemble(settings)
    except ConfigError as problem:
        sys.stderr.write(f"dglop operator: {problem}\n")
        return 2
    return run_program(manager, [])


def assemble(settings: ProgramSettings) -> Manager:
    """One Manager that runs the kinds that are enabled; it does no I/O before it is started.

    Raises ConfigError where a kind lacks what it needs.
    """
    manager = make_manager(settings)
    add_kinds(manager, settings)
    return manager


def add_kinds(manager: Manager, settings: ProgramSettings) -> None:
    """Have the Manager run the enabled kinds. Raises ConfigError where one lacks what it needs."""
    if "DGLJob" in settings.kinds:
        add_dgljobs(manager, settings)
    if "PyTorchJob" in settings.kinds:
        from dglop.pytorchjob.operator import add_pytorchjobs  # noqa: PLC0415 - only where it is enabled

        add_pytorchjobs(manager)
    if "MPIJob" in settings.kinds:
        from dglop.mpijob.operator import add_mpijobs  # noqa: PLC0415 - only where it is enabled

        add_mpijobs(manager, settings, cluster_domain=settings.cluster_domain)

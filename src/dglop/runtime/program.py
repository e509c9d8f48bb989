# SPDX-License-Identifier: Apache-2.0
"""A Manager as a program: flags, signals, logs and the exit code."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

from dglop.errors import DglopError
from dglop.runtime.log import make_log, take_over_process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.runtime.manager import Manager

__all__ = ("run_program",)


def run_program(manager: Manager, argv: Sequence[str] | None) -> int:
    """
    Run *manager* until SIGTERM or SIGINT; a second one ends the process at once with 1.

    Gives 0 after an orderly end and 1 after a failure, which is told in one line on stderr; it ends the
    process with 1 where something goes on that nothing ends.
    """
    try:
        settings = manager.settings.with_flags(
            list(sys.argv[1:] if argv is None else argv), program=manager.name
        )
    except DglopError as error:
        sys.stderr.write(f"{manager.name}: {error}\n")
        return 2
    log = make_log(format_=settings.log_format, level=settings.log_level)
    take_over_process(log, format_=settings.log_format, level=settings.log_level)
    manager.reconfigure(settings, log)
    manager.metrics.register_process()
    try:
        asyncio.run(_run(manager))
    except Exception as error:
        first = _first(error)
        trace = None if isinstance(first, DglopError) else first
        log.error("Stopped with an error", error=f"{type(first).__name__}: {first}", exc_info=trace)  # noqa: TRY400
        return 1
    log.info("Stopped")
    return 0


async def _run(manager: Manager) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            manager.log.error("Exited at once, on a second signal", signal=number.name)
            manager.hard_exit(1)
        manager.log.info("Stopping", signal=number.name)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    try:
        await manager.run(stop)
    finally:
        if manager.stuck:
            # Python would wait for its threads, and a second signal would find nobody to hear it.
            manager.log.critical("Exited at once, since something does not end", runnables=manager.stuck)
            manager.hard_exit(1)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def _first(error: BaseException) -> BaseException:
    """What happened; a group only says "unhandled errors in a TaskGroup"."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

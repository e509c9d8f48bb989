# SPDX-License-Identifier: Apache-2.0
"""Progress as people read it: one line for each step, a spinner where there is a terminal."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO

from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

__all__ = ("PlainReport", "Report", "RichReport", "Step", "choose_report", "duration")

NAME_WIDTH = 12
NOTE_WIDTH = 52
QUIET_SECONDS = 15.0


class Step(Protocol):
    """A step that is under way."""

    def note(self, text: str) -> None:
        """Say how the step stands; the last note stays on its line when it ends."""


class Report(Protocol):
    """Where progress is told. One step at a time: what belongs to a step is given the step."""

    def say(self, text: str) -> None:
        """Print one line between steps."""

    def step(self, name: str) -> AbstractContextManager[Step]:
        """Tell the beginning and the end of `name`; an exception marks it as failed and goes on."""


def duration(seconds: float) -> str:
    """Time as people say it: `7 s`, `6m 40s`, `1h 02m`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    return f"{minutes // 60}h {minutes % 60:02d}m"


def line(mark: str, name: str, note: str, took: str) -> str:
    """One finished step, aligned under its neighbours."""
    fits = note if len(note) <= NOTE_WIDTH else f"{note[: NOTE_WIDTH - 1]}…"
    return f"  {mark} {name:<{NAME_WIDTH}} {fits:<{NOTE_WIDTH}} {took:>8}".rstrip()


class PlainReport:
    """Lines for a log: the start of a step, a note now and then, the end."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock

    def say(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        begun = self._clock()
        state = _PlainStep(self, name, self._clock)
        try:
            yield state
        except BaseException:
            self.say(line("✗", name, state.text, duration(self._clock() - begun)))
            raise
        self.say(line("✓", name, state.text, duration(self._clock() - begun)))


class _PlainStep:
    def __init__(self, report: PlainReport, name: str, clock: Callable[[], float]) -> None:
        self.text = ""
        self._report = report
        self._name = name
        self._clock = clock
        self._said = clock()

    def note(self, text: str) -> None:
        self.text = text
        if self._clock() - self._said >= QUIET_SECONDS:  # a log wants signs of life, not an animation
            self._said = self._clock()
            self._report.say(line("·", self._name, text, ""))


class RichReport:
    """The same on a terminal, with a spinner for the step under way."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock

    def say(self, text: str) -> None:
        # A command that a line break goes through cannot be pasted.
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        begun = self._clock()
        with self._console.status(f"  {name}") as status:
            state = _RichStep(name, status.update)
            try:
                yield state
            except BaseException:
                self._end("[red]✗[/red]", name, state.text, begun)
                raise
        self._end("[green]✓[/green]", name, state.text, begun)

    def _end(self, mark: str, name: str, note: str, begun: float) -> None:
        text = line("\0", name, note, duration(self._clock() - begun))
        self._console.print(escape(text).replace("\0", mark), highlight=False)


class _RichStep:
    def __init__(self, name: str, update: Callable[[str], None]) -> None:
        self.text = ""
        self._name = name
        self._update = update

    def note(self, text: str) -> None:
        self.text = text
        self._update(f"  {self._name:<{NAME_WIDTH}} {escape(text)}")


def choose_report(stream: TextIO | None = None) -> Report:
    """A spinner where `stream` is a terminal, plain lines otherwise."""
    stream = stream or sys.stdout
    return RichReport(Console(file=stream)) if stream.isatty() else PlainReport(stream)

# SPDX-License-Identifier: Apache-2.0
"""Structured logs: JSON in a cluster, colours on a terminal, the same keys in both."""

from __future__ import annotations

import io
import logging
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

import structlog

if TYPE_CHECKING:
    from collections.abc import MutableMapping

__all__ = ("LEVELS", "Log", "make_log", "take_over_process")

Log = Any
"""A structlog bound logger: `log.info("Created pod", pod=name)`; its types are structlog's own affair."""

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
"""The levels that a log may have, least serious first, by the settings' names."""

# Their warnings are worth a line; what they say at info is about connections, not about the operator.
CHATTY = ("aiohttp.access", "asyncio", "kubernetes", "urllib3")


def make_log(*, format_: str = "auto", level: str = "info", stream: TextIO | None = None) -> Log:
    """
    A logger of its own, that touches no global configuration; *format_* is auto, json or console.

    A line that cannot be written, as on a full disk or to a pipe without a reader, is lost; the work goes on.
    """
    out = _unfailing(stream or sys.stderr)
    return structlog.wrap_logger(
        structlog.WriteLogger(out),
        processors=_processors(format_, out),
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        cache_logger_on_first_use=True,
    )


def take_over_process(log: Log, *, format_: str = "auto", level: str = "info") -> None:
    """Send what libraries log the same way. It changes the whole process: only for a program's main."""
    out = _unfailing(sys.stderr)
    structlog.configure(
        processors=_processors(format_, out),
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers[:] = [_Bridge(log)]
    root.setLevel(LEVELS[level])
    for name in CHATTY:
        logging.getLogger(name).setLevel(max(LEVELS[level], logging.WARNING))


class _Unfailing(io.TextIOBase):
    """A stream whose trouble is nobody else's; there is none where a process was started without stderr."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__()
        self._stream = stream

    def write(self, text: str) -> int:
        if self._stream is not None:
            with suppress(OSError, ValueError):  # ValueError: it is closed, or cannot say such a character
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        if self._stream is not None:
            with suppress(OSError, ValueError):
                self._stream.flush()

    def isatty(self) -> bool:
        with suppress(ValueError):
            return self._stream is not None and self._stream.isatty()
        return False


def _unfailing(stream: TextIO | None) -> TextIO:
    return cast("TextIO", _Unfailing(stream))


def _processors(format_: str, out: TextIO) -> list[Any]:
    as_json = format_ == "json" or (format_ == "auto" and not out.isatty())
    render: list[Any] = [structlog.dev.ConsoleRenderer(colors=out.isatty())]
    if as_json:
        render = [
            structlog.processors.dict_tracebacks,
            _plain_error,
            structlog.processors.EventRenamer("msg"),
            structlog.processors.JSONRenderer(),
        ]
    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        *render,
    ]


class _Bridge(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.log(record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info)


def _plain_error(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Keep of a traceback what a reader of JSON lines can use: the error and where each frame was."""
    stacks = event.pop("exception", None)
    if isinstance(stacks, list) and stacks:
        last = stacks[0]
        event["error"] = f"{last.get('exc_type')}: {last.get('exc_value')}"
        event["stack"] = [
            f"{frame['filename']}:{frame['lineno']} {frame['name']}" for frame in last.get("frames", ())
        ]
    elif stacks:
        event["error"] = str(stacks)
    return event

# SPDX-License-Identifier: Apache-2.0
"""`attend -- COMMAND`: one process of a launch, in its Worker; nothing of it is left when it ends.

An exec ends when nobody holds its output any more, not when its command ends: the samplers of a trainer that
crashed would keep the Launcher waiting for ever.
"""

from __future__ import annotations

from functools import partial
from typing import Callable, List, Mapping, Sequence

from .. import contract
from ..children import ChildExit, Children, Command, become_reaper
from ..env import Env
from ..events import ChildrenEnded, Events, Told
from ..output import Stdout
from ..pythonpath import child_env
from ..samplers import Process, SamplerWatch, process_table

__all__ = ("attend",)

_NAME = "process"
_LOOK_SECONDS = 2.0
_LAST_WORDS_SECONDS = 0.5


def attend(
    argv: Sequence[str],
    variables: Mapping[str, str],
    table: Callable[[], List[Process]] = process_table,
) -> int:
    """The exit code of the command, or of a sampler of it that was killed. Raises Refusal."""
    env = Env(variables)
    patience = env.seconds(contract.ENV_KILL_SECONDS, 5.0)
    samplers = SamplerWatch() if env.integer("DGL_NUM_SAMPLER", 0) else None
    events, out = Events(), _Words()
    events.listen_to_signals()
    become_reaper()
    children = Children(out, prefixed=False, orphaned=samplers.orphaned if samplers else None)
    try:
        end = children.start(Command(_NAME, argv, child_env(variables)))
        if end is not None:
            out.say(" ".join(children.last_lines(_NAME)))
            return end.code
        return _wait(events, children, out, partial(_look, samplers, table, children) if samplers else list)
    finally:
        children.last_lines(_NAME, patience=_LAST_WORDS_SECONDS)
        out.is_over = True
        children.end(patience, events.wait_for_child)
        events.ignore_signals()


class _Words(Stdout):
    """What the command says, but not what its samplers say to being ended: its last words are its own."""

    is_over: bool = False

    def __call__(self, line: bytes) -> None:
        if not self.is_over:
            super().__call__(line)


def _look(watch: SamplerWatch, table: Callable[[], List[Process]], children: Children) -> List[ChildExit]:
    return watch.look(table(), children.running())


def _wait(events: Events, children: Children, out: _Words, look: Callable[[], List[ChildExit]]) -> int:
    while True:
        event = events.get(_LOOK_SECONDS)
        if isinstance(event, Told):
            return contract.EXIT_PEER
        ended = children.reap() if isinstance(event, ChildrenEnded) else []
        if event is None:
            ended = look()
        for end in ended:
            if end.name != _NAME:
                out.say("a sampler ended: exit code %d; its trainer would wait for it for ever" % end.code)
            return end.code

# SPDX-License-Identifier: Apache-2.0
"""Several pieces of work at the same time, which nobody waits for once one has failed."""

from __future__ import annotations

import queue
import threading
from typing import Any, Callable, List, Sequence, Tuple, TypeVar

__all__ = ("together",)

T = TypeVar("T")


def together(work: Sequence[Callable[[], T]], at_once: int) -> List[T]:
    """The results in the order of the work; the first error is raised at once.

    The threads are no reason for the process to stay: when it is told to stop, or one has failed, they end
    with it.
    """
    waiting: queue.SimpleQueue[Tuple[int, Callable[[], T]]] = queue.SimpleQueue()
    done: queue.SimpleQueue[Tuple[int, Any, Any]] = queue.SimpleQueue()
    for item in enumerate(work):
        waiting.put(item)
    for _ in range(min(at_once, len(work))):
        threading.Thread(target=_work, args=(waiting, done), daemon=True).start()
    results: List[Any] = [None] * len(work)
    for _ in work:
        place, result, error = done.get()
        if error is not None:
            raise error
        results[place] = result
    return results


def _work(waiting: Any, done: Any) -> None:
    while True:
        try:
            place, task = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            done.put((place, task(), None))
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            done.put((place, None, error))
            return

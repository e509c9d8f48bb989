# SPDX-License-Identifier: Apache-2.0
"""How late the event loop is, in metrics and, where it is bad, in the log."""

from __future__ import annotations

import asyncio
import io
import json
import time

from dglop.runtime.log import make_log
from dglop.runtime.looplag import LoopLag
from dglop.runtime.metrics import Metrics
from dglop.testing.clock import yield_to_tasks


def test_the_lag_and_the_worst_of_it_are_shown_and_only_a_stall_is_told() -> None:
    metrics, lines = Metrics(), io.StringIO()
    lag = LoopLag(metrics, make_log(format_="json", stream=lines))
    for seconds in (0.01, 1.5, 0.02):
        lag.observe(seconds)
    assert metrics.registry.get_sample_value("dglop_event_loop_lag_seconds") == 0.02
    assert metrics.registry.get_sample_value("dglop_event_loop_lag_max_seconds") == 1.5
    (line,) = lines.getvalue().splitlines()
    assert json.loads(line)["seconds"] == 1.5


async def test_a_loop_that_code_blocks_is_late_by_as_long_as_that() -> None:
    metrics, stop = Metrics(), asyncio.Event()
    lag = LoopLag(metrics, make_log(stream=io.StringIO()), period=0.01)
    running = asyncio.create_task(lag.run(stop))
    await yield_to_tasks()
    time.sleep(0.1)  # noqa: ASYNC251 - this is what must not be done
    stop.set()
    await running
    shown = metrics.registry.get_sample_value("dglop_event_loop_lag_max_seconds")
    assert shown is not None
    assert shown >= 0.05

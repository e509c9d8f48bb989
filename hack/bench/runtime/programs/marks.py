# SPDX-License-Identifier: Apache-2.0
"""A line for each thing that a measured program has reached; standard library only."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

__all__ = ("arguments", "mark")


def mark(what: str, **figures: float) -> None:
    """Print what was reached, when by the machine's monotonic clock, and what it took so far."""
    status = Path("/proc/self/status").read_text()
    found = {
        "mark": what,
        "at": time.monotonic(),
        "cpu": time.process_time(),
        "peak": int(status.split("VmHWM:")[1].split(maxsplit=1)[0]) * 1024,
        **figures,
    }
    print(json.dumps(found), flush=True)


def arguments(*works: str) -> argparse.Namespace:
    """The command line that all programs of the bench have."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", choices=works, required=True)
    parser.add_argument("--config", required=True, help="kubeconfig of the API server")
    parser.add_argument("--count", type=int, default=0, help="objects that there are")
    parser.add_argument("--rounds", type=int, default=1, help="how often each is reconciled")
    parser.add_argument("--round", type=int, default=0, help="the round of changes to wait for")
    parser.add_argument("--leader-elect", action="store_true", help="serve only while leading")
    parser.add_argument("--priority", type=int, default=0, help="kopf's, among its peers")
    return parser.parse_args()

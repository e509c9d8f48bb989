# SPDX-License-Identifier: Apache-2.0
"""Where this package lies, so that children can `import dglrun` and start it again."""

from __future__ import annotations

import os
import sys
from typing import Dict, List, Mapping

__all__ = ("ZIPAPP_ENV", "child_env", "home", "own_argv")

ZIPAPP_ENV = "DGLJOB_ZIPAPP"


def home() -> str:
    """The zipapp, or the folder that holds the package where it runs unpacked."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def child_env(variables: Mapping[str, str]) -> Dict[str, str]:
    """A child's environment: `from dglrun import report` works there, its output comes unbuffered."""
    env = dict(variables)
    env.setdefault("PYTHONUNBUFFERED", "1")
    env[ZIPAPP_ENV] = home()
    paths = [path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path]
    if home() not in paths:
        # last: whatever the user put there wins over names of ours
        env["PYTHONPATH"] = os.pathsep.join([*paths, home()])
    return env


def own_argv() -> List[str]:
    """How to start this program again: the zipapp, or the package where it runs from a folder."""
    main = sys.modules["__main__"]
    if getattr(main, "__package__", ""):
        return ["-m", str(main.__package__)]
    return [os.path.abspath(sys.argv[0])]

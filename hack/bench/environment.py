# SPDX-License-Identifier: Apache-2.0
"""The environment of what is measured."""

from __future__ import annotations

import os

__all__ = ("inherited",)


def inherited() -> dict[str, str]:
    """This program's environment, without what would have Python compile all modules anew at each start."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

# SPDX-License-Identifier: Apache-2.0
"""How much of what these tests could try they do: `make calls` tries all."""

from __future__ import annotations

import os

__all__ = ("IS_WHOLE",)

IS_WHOLE = bool(os.environ.get("DGLOP_EVERY_CALL"))

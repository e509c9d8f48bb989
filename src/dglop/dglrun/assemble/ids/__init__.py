# SPDX-License-Identifier: Apache-2.0
"""Which part each node goes to: one way a module, all with the same shape.

Each takes the plan and gives the part of every node of the own share, int64. All processes call it.
"""

from __future__ import annotations

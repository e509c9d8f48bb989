# SPDX-License-Identifier: Apache-2.0
"""The kind that the bench's operators bring to the phase Done."""

from __future__ import annotations

from dglop import CustomResource, Spec, Status

__all__ = ("Widget",)


class WidgetSpec(Spec):
    size: int = 0


class WidgetStatus(Status):
    phase: str = ""


class Widget(CustomResource[WidgetSpec, WidgetStatus], group="bench.dglop.dev", version="v1"):
    """Done once its status says so."""

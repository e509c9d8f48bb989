# SPDX-License-Identifier: Apache-2.0
"""The one door to the API server and to the official client."""

from __future__ import annotations

from dglop.runtime.client.client import Client
from dglop.runtime.client.config import ClientConfig
from dglop.runtime.client.metrics import ClientMetrics
from dglop.runtime.client.patchtype import PatchType

__all__ = ("Client", "ClientConfig", "ClientMetrics", "PatchType")

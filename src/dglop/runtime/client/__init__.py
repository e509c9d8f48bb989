# SPDX-License-Identifier: Apache-2.0
"""The one door to the API server and to the official client."""

from __future__ import annotations

from dglop.runtime.client.client import Client
from dglop.runtime.client.config import ClientConfig
from dglop.runtime.client.conflict import retry_on_conflict
from dglop.runtime.client.discovery import Served
from dglop.runtime.client.mapper import Mapper
from dglop.runtime.client.metadataonly import MetadataView, PartialObject
from dglop.runtime.client.metrics import ClientMetrics
from dglop.runtime.client.patchtype import PatchType
from dglop.runtime.client.subresource import SubResource
from dglop.runtime.client.transport import Call
from dglop.runtime.client.view import FieldValidation

__all__ = (
    "Call",
    "Client",
    "ClientConfig",
    "ClientMetrics",
    "FieldValidation",
    "Mapper",
    "MetadataView",
    "PartialObject",
    "PatchType",
    "Served",
    "SubResource",
    "retry_on_conflict",
)

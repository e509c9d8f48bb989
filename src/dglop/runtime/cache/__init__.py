# SPDX-License-Identifier: Apache-2.0
"""The cache: stores kept equal to the API server by list and watch."""

from __future__ import annotations

from dglop.runtime.cache.cache import Cache
from dglop.runtime.cache.delta import Delta, EventHandlerProtocol
from dglop.runtime.cache.entry import Cached, Key
from dglop.runtime.cache.health import InformerHealth
from dglop.runtime.cache.informer import Informer, Registration
from dglop.runtime.cache.meta import Meta, Owner
from dglop.runtime.cache.metrics import CacheMetrics
from dglop.runtime.cache.options import ALL_NAMESPACES, CacheOptions, KindOptions, Selection
from dglop.runtime.cache.pages import serves_pages
from dglop.runtime.cache.scope import Limits
from dglop.runtime.cache.store import CONTROLLER_INDEX, NAMESPACE_INDEX, Indexer, Store
from dglop.runtime.cache.transform import Transform, without

__all__ = (
    "ALL_NAMESPACES",
    "CONTROLLER_INDEX",
    "NAMESPACE_INDEX",
    "Cache",
    "CacheMetrics",
    "CacheOptions",
    "Cached",
    "Delta",
    "EventHandlerProtocol",
    "Indexer",
    "Informer",
    "InformerHealth",
    "Key",
    "KindOptions",
    "Limits",
    "Meta",
    "Owner",
    "Registration",
    "Selection",
    "Store",
    "Transform",
    "serves_pages",
    "without",
)

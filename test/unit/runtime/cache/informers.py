# SPDX-License-Identifier: Apache-2.0
"""What the tests of informers begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.runtime.api import Resource
from dglop.testing.scripted_cache import Hearer

if TYPE_CHECKING:
    from dglop.runtime.cache import Cache, Informer
    from dglop.testing.scripted import Seen

POD = Resource("", "v1", "Pod", "pods")
NODE = Resource("", "v1", "Node", "nodes", namespaced=False)


async def started(cache: Cache, kind: Resource = POD) -> tuple[Informer, Hearer]:
    informer, hearer = cache.informer(kind), Hearer()
    informer.add_handler(hearer)
    await cache.start()
    return informer, hearer


def watches(seen: Seen) -> bool:
    return seen.is_watch

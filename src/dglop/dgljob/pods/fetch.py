# SPDX-License-Identifier: Apache-2.0
"""The init container that fetches a pod's part, or what all need, and verifies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dgljob.pods.env import fetch_settings
from dglop.dgljob.pods.names import FETCH
from dglop.dgljob.pods.sidekick import dglrun_container, plain_resources
from dglop.dgljob.pods.volumes import add_secret, mount_parts

if TYPE_CHECKING:
    from dglop.dgljob.pods.context import PodContext
    from dglop.runtime.api import RawContainer, RawPod

__all__ = ("add_fetch",)


def add_fetch(pod: RawPod, ctx: PodContext, main: RawContainer) -> None:
    """Adds `dglrun fetch` after the user's init containers.

    On a claim there is nothing to fetch: the main container verifies its part by itself.
    """
    container = dglrun_container(
        FETCH,
        "fetch",
        main=main,
        python=ctx.spec.python,
        told=fetch_settings(ctx),
        resources=plain_resources(main),
    )
    mount_parts(ctx, container, read_only=False)
    add_secret(pod, ctx, container)
    pod.add_init_container(container.data)

# SPDX-License-Identifier: Apache-2.0
"""What the operator brings to every MPIJob: its image and the seeds of their keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dglop.common.delivery import DEFAULT_IMAGE

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("MPIOptions",)


@dataclass(frozen=True, slots=True)
class MPIOptions:
    """
    Settings of the kind that no job states.

    Attributes
    ----------
        seed: 32 secret bytes or more for the job with a UID, the same each time.
        delivery_image: the operator's image, in which a Launcher waits for its hosts.
        cluster_domain: the domain of the cluster's DNS.
    """

    seed: Callable[[str], bytes]
    delivery_image: str = DEFAULT_IMAGE
    cluster_domain: str = "cluster.local"

# SPDX-License-Identifier: Apache-2.0
"""What the operator brings to every job: its image, where progress is posted, its tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dglop.common.delivery import DEFAULT_IMAGE
from dglop.dgljob.features import ServerFeatures

if TYPE_CHECKING:
    from dglop.dgljob.tokens import TokenSource

__all__ = ("KindOptions",)


@dataclass(frozen=True, slots=True)
class KindOptions:
    """
    Settings of the kind that no job states.

    Attributes
    ----------
        tokens: makes the tokens of jobs.
        delivery_image: the image that holds dglrun, which the deliver container copies.
        progress_url: where the progress server is reached from pods; "": jobs report nothing.
        allow_host_path: whether jobs may keep their parts in a folder of the nodes.
        features: what the API server can do; by default the least.
    """

    tokens: TokenSource
    delivery_image: str = DEFAULT_IMAGE
    progress_url: str = ""
    allow_host_path: bool = False
    features: ServerFeatures = field(default_factory=ServerFeatures)

    def status_url(self, namespace: str, name: str) -> str:
        """Where the job posts its progress; "" where nothing is posted."""
        if not self.progress_url:
            return ""
        return f"{self.progress_url.rstrip('/')}/v1/namespaces/{namespace}/dgljobs/{name}/progress"

# SPDX-License-Identifier: Apache-2.0
"""The Secret of a job: the tokens that its pods show to each other and to the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.tokens import TokenSource

__all__ = ("PARTS_TOKEN", "STATUS_TOKEN", "secret_manifest", "secret_name")

PARTS_TOKEN = "parts-token"  # noqa: S105 - a key's name
STATUS_TOKEN = "status-token"  # noqa: S105 - a key's name


def secret_name(job: DGLJob) -> str:
    """The Secret's name; it carries the job's UID, so that one that is there already is this job's own."""
    return f"{job.name}-dglrun-{job.uid[:8]}"


def secret_manifest(job: DGLJob, tokens: TokenSource) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret_name(job)},
        "type": "Opaque",
        "immutable": True,
        "stringData": {PARTS_TOKEN: tokens.parts(job.uid), STATUS_TOKEN: tokens.status(job.uid)},
    }

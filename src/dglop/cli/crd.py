# SPDX-License-Identifier: Apache-2.0
"""`dglop crd`: the CRDs as YAML, ready for `kubectl apply -f -`."""

from __future__ import annotations

import sys

import yaml

from dglop.dgljob.api import DGLJob
from dglop.runtime.api import crd_manifest

__all__ = ("run",)


def run(words: list[str]) -> int:
    """Prints the CRDs of all kinds."""
    if words:
        sys.stderr.write(f"dglop crd takes no options, but got {' '.join(words)}\n")
        return 2
    sys.stdout.write(yaml.safe_dump_all([crd_manifest(DGLJob)], sort_keys=False, width=110))
    return 0

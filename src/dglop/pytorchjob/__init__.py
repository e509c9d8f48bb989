# SPDX-License-Identifier: Apache-2.0
"""The PyTorchJob kind: a Master and Workers that train together with torch.distributed."""

from __future__ import annotations

from dglop.pytorchjob.api import PyTorchJob
from dglop.pytorchjob.kind import PyTorchJobKind

__all__ = ("PyTorchJob", "PyTorchJobKind")

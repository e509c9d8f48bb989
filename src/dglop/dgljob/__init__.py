# SPDX-License-Identifier: Apache-2.0
"""The DGLJob kind: API, validation, phases and pod builders."""

from __future__ import annotations

from dglop.dgljob.api import DGLJob
from dglop.dgljob.kind import DGLJobKind
from dglop.dgljob.options import KindOptions
from dglop.dgljob.tokens import Tokens

__all__ = ("DGLJob", "DGLJobKind", "KindOptions", "Tokens")

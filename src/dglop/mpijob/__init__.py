# SPDX-License-Identifier: Apache-2.0
"""The MPIJob kind: a Launcher that runs mpirun over Workers by ssh."""

from __future__ import annotations

from dglop.mpijob.api import MPIJob
from dglop.mpijob.kind import MPIJobKind
from dglop.mpijob.options import MPIOptions

__all__ = ("MPIJob", "MPIJobKind", "MPIOptions")

# SPDX-License-Identifier: Apache-2.0
"""A cluster to test on: an own one, kind's, or one of processes on this machine."""

from __future__ import annotations

from hack.cluster.errors import ClusterError
from hack.cluster.provider import Provider, choose_provider

__all__ = ("ClusterError", "Provider", "choose_provider")

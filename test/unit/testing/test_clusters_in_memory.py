# SPDX-License-Identifier: Apache-2.0
"""The tests of what a TestCluster promises, word for word those for a real API server, in memory."""

from __future__ import annotations

from test.envtest.test_clusters import *  # noqa: F403

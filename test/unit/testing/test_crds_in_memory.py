# SPDX-License-Identifier: Apache-2.0
"""The tests of generated CRDs, word for word those for a real API server, on the in-memory one."""

from __future__ import annotations

from test.envtest.test_crds import *  # noqa: F403

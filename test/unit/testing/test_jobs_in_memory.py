# SPDX-License-Identifier: Apache-2.0
"""The tests of whole lives of jobs, word for word those for a real API server, on the in-memory one."""

from __future__ import annotations

from test.envtest.common.test_jobs import *  # noqa: F403

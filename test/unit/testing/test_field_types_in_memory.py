# SPDX-License-Identifier: Apache-2.0
"""The tests of test_field_types on a real API server, word for word, in memory."""

from __future__ import annotations

from test.envtest.test_field_types import *  # noqa: F403

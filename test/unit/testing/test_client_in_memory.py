# SPDX-License-Identifier: Apache-2.0
"""The tests of what a real API server decides of the client's calls, on the in-memory one."""

from __future__ import annotations

from test.envtest.test_client import *  # noqa: F403

# It makes a client of its own from a kubeconfig; the conformance cases have its subject too.
del test_strict_validation_refuses_what_would_otherwise_be_dropped_with_a_warning  # noqa: F821

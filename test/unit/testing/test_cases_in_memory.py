# SPDX-License-Identifier: Apache-2.0
"""The acceptance cases, word for word those for a real API server, on the in-memory one."""

from __future__ import annotations

from test.envtest.common.test_cases_cleanup import *  # noqa: F403
from test.envtest.common.test_cases_restarts import *  # noqa: F403
from test.envtest.common.test_cases_status import *  # noqa: F403
from test.envtest.common.test_cases_suspension import *  # noqa: F403
from test.envtest.common.test_cases_time import *  # noqa: F403
